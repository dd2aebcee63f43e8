create procedure dbdyno_tpcc_stock_level (at_warehouse smallint, at_district tinyint, threshold int)
reads sql data
sql security invoker
comment '{version}'
begin
  declare next_order int;
  declare exit handler for not found
    signal sqlstate '45000' set message_text = 'the district is not there';

  select d_next_o_id into next_order from district where d_w_id = at_warehouse and d_id = at_district;
  select count(distinct s_i_id) from order_line, stock
    where ol_w_id = at_warehouse and ol_d_id = at_district and ol_o_id >= next_order - 20 and ol_o_id < next_order
      and s_w_id = at_warehouse and s_i_id = ol_i_id and s_quantity < threshold;
  commit;
end
