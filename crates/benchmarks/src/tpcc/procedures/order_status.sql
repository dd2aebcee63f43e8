create procedure dbdyno_tpcc_order_status (
  at_warehouse smallint, at_district tinyint, customer_number int, customer_last varchar(16))
reads sql data
sql security invoker
comment '{version}'
begin
  declare same_name, middle, order_number int;
  declare exit handler for not found
    signal sqlstate '45000' set message_text = 'a customer or the order of the customer is not there';

  if customer_number is null then
    select count(*) into same_name from customer
      where c_w_id = at_warehouse and c_d_id = at_district and c_last = customer_last;
    set middle = greatest((same_name + 1) div 2 - 1, 0);
    select c_id into customer_number from customer
      where c_w_id = at_warehouse and c_d_id = at_district and c_last = customer_last
      order by c_first limit middle, 1;
  end if;
  select o_id into order_number from orders
    where o_w_id = at_warehouse and o_d_id = at_district and o_c_id = customer_number
    order by o_id desc limit 1;
  select c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id from customer, orders
    where c_w_id = at_warehouse and c_d_id = at_district and c_id = customer_number
      and o_w_id = at_warehouse and o_d_id = at_district and o_id = order_number;
  select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line
    where ol_w_id = at_warehouse and ol_d_id = at_district and ol_o_id = order_number;
  commit;
end
