create procedure dbdyno_tpcc_delivery (at_warehouse smallint, by_carrier tinyint)
modifies sql data
sql security invoker
comment '{version}'
begin
  declare at_district int default 1;
  declare delivered int default 0;
  declare order_number, order_customer int;
  declare order_amount decimal(12, 2);
  declare exit handler for not found
    signal sqlstate '45000' set message_text = 'an order to deliver is not there';

  -- All reads lock: what they see is the latest, however long this transaction waited for another one.
  while at_district <= 10 do
    begin
      declare continue handler for not found set order_number = null;
      select no_o_id into order_number from new_orders
        where no_w_id = at_warehouse and no_d_id = at_district order by no_o_id limit 1 for update;
    end;
    if order_number is not null then
      delete from new_orders where no_w_id = at_warehouse and no_d_id = at_district and no_o_id = order_number;
      select o_c_id into order_customer from orders
        where o_w_id = at_warehouse and o_d_id = at_district and o_id = order_number for update;
      update orders set o_carrier_id = by_carrier
        where o_w_id = at_warehouse and o_d_id = at_district and o_id = order_number;
      update order_line set ol_delivery_d = now()
        where ol_w_id = at_warehouse and ol_d_id = at_district and ol_o_id = order_number;
      select sum(ol_amount) into order_amount from order_line
        where ol_w_id = at_warehouse and ol_d_id = at_district and ol_o_id = order_number for update;
      update customer set c_balance = c_balance + order_amount, c_delivery_cnt = c_delivery_cnt + 1
        where c_w_id = at_warehouse and c_d_id = at_district and c_id = order_customer;
      set delivered = delivered | (1 << (at_district - 1));
    end if;
    set at_district = at_district + 1;
  end while;
  commit;
  select delivered;
end
