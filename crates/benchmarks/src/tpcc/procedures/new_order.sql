create procedure dbdyno_tpcc_new_order (
  at_warehouse smallint, at_district tinyint, of_customer int, all_local tinyint, line_count tinyint,
  line_texts varchar(255))
modifies sql data
sql security invoker
comment '{version}'
ordering: begin
  declare order_number, item_number int;
  declare district_tax, warehouse_tax, discount decimal(4, 4);
  declare customer_last varchar(16);
  declare customer_credit char(2);
  declare line_index, line_at int default 0;
  declare line_number, line_quantity, remote tinyint;
  declare supplier, in_stock smallint;
  declare price decimal(5, 2);
  declare item_name varchar(24);
  declare item_data, stock_data varchar(50);
  declare district_info char(24);
  declare exit handler for not found
    signal sqlstate '45000' set message_text = 'a district, customer or stock of the order is not there';

  select d_next_o_id, d_tax into order_number, district_tax
    from district where d_w_id = at_warehouse and d_id = at_district for update;
  update district set d_next_o_id = d_next_o_id + 1 where d_w_id = at_warehouse and d_id = at_district;
  select c_discount, c_last, c_credit, w_tax into discount, customer_last, customer_credit, warehouse_tax
    from customer, warehouse
    where w_id = at_warehouse and c_w_id = w_id and c_d_id = at_district and c_id = of_customer;
  insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    values (order_number, at_district, at_warehouse, of_customer, now(), line_count, all_local);
  insert into new_orders (no_o_id, no_d_id, no_w_id) values (order_number, at_district, at_warehouse);

  while line_index < line_count do
    -- Two digits of the line's number, six of the item, five of the supplying warehouse, two of the quantity.
    set line_at = 15 * line_index + 1;
    set line_number = substr(line_texts, line_at, 2);
    set item_number = substr(line_texts, line_at + 2, 6);
    set supplier = substr(line_texts, line_at + 8, 5);
    set line_quantity = substr(line_texts, line_at + 13, 2);
    begin
      declare continue handler for not found set price = null;
      select i_price, i_name, i_data into price, item_name, item_data from item where i_id = item_number;
    end;
    if price is null then
      rollback;
      select null, customer_last, customer_credit, discount, warehouse_tax, district_tax;
      leave ordering;
    end if;
    select s_quantity, s_data, elt(at_district, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06,
        s_dist_07, s_dist_08, s_dist_09, s_dist_10)
      into in_stock, stock_data, district_info
      from stock where s_w_id = supplier and s_i_id = item_number for update;
    set in_stock = in_stock - line_quantity + if(in_stock >= line_quantity + 10, 0, 91);
    set remote = supplier <> at_warehouse;
    update stock set s_quantity = in_stock, s_ytd = s_ytd + line_quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + remote where s_w_id = supplier and s_i_id = item_number;
    insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info)
      values (order_number, at_district, at_warehouse, line_number, item_number, supplier, line_quantity,
        line_quantity * price, district_info);
    set line_index = line_index + 1;
  end while;
  commit;
  select order_number, customer_last, customer_credit, discount, warehouse_tax, district_tax;
end
