create procedure dbdyno_tpcc_payment (
  at_warehouse smallint, at_district tinyint, customer_warehouse smallint, customer_district tinyint,
  customer_number int, customer_last varchar(16), amount decimal(6, 2))
modifies sql data
sql security invoker
comment '{version}'
begin
  declare warehouse_name, district_name varchar(10);
  declare same_name, middle int;
  declare credit char(2);
  declare exit handler for not found
    signal sqlstate '45000' set message_text = 'a warehouse, district or customer of the payment is not there';

  update warehouse set w_ytd = w_ytd + amount where w_id = at_warehouse;
  select w_name into warehouse_name from warehouse where w_id = at_warehouse;
  update district set d_ytd = d_ytd + amount where d_w_id = at_warehouse and d_id = at_district;
  select d_name into district_name from district where d_w_id = at_warehouse and d_id = at_district;
  if customer_number is null then
    select count(*) into same_name from customer
      where c_w_id = customer_warehouse and c_d_id = customer_district and c_last = customer_last;
    set middle = greatest((same_name + 1) div 2 - 1, 0);
    select c_id into customer_number from customer
      where c_w_id = customer_warehouse and c_d_id = customer_district and c_last = customer_last
      order by c_first limit middle, 1;
  end if;
  select c_credit into credit from customer
    where c_w_id = customer_warehouse and c_d_id = customer_district and c_id = customer_number for update;
  if credit = 'BC' then
    update customer set c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount,
      c_payment_cnt = c_payment_cnt + 1,
      c_data = left(concat_ws(' ', customer_number, customer_district, customer_warehouse, at_district, at_warehouse,
        amount, c_data), 500)
      where c_w_id = customer_warehouse and c_d_id = customer_district and c_id = customer_number;
  else
    update customer set c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount,
      c_payment_cnt = c_payment_cnt + 1
      where c_w_id = customer_warehouse and c_d_id = customer_district and c_id = customer_number;
  end if;
  insert into history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    values (customer_district, customer_warehouse, customer_number, at_district, at_warehouse, now(), amount,
      concat(warehouse_name, '    ', district_name));
  select c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
      c_credit_lim, c_discount, c_balance, w_street_1, w_street_2, w_city, w_state, w_zip, d_street_1,
      d_street_2, d_city, d_state, d_zip
    from customer, warehouse, district
    where c_w_id = customer_warehouse and c_d_id = customer_district and c_id = customer_number
      and w_id = at_warehouse and d_w_id = at_warehouse and d_id = at_district;
  commit;
end
