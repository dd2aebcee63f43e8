-- The tables of tpcc-mysql as its users make them, with indexes and foreign keys before the load.
create table warehouse (w_id smallint not null, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20),
  w_city varchar(20), w_state char(2), w_zip char(9), w_tax decimal(4,2), w_ytd decimal(12,2),
  primary key (w_id)) engine=InnoDB;
create table district (d_id tinyint not null, d_w_id smallint not null, d_name varchar(10), d_street_1 varchar(20),
  d_street_2 varchar(20), d_city varchar(20), d_state char(2), d_zip char(9), d_tax decimal(4,2), d_ytd decimal(12,2),
  d_next_o_id int, primary key (d_w_id, d_id)) engine=InnoDB;
create table customer (c_id int not null, c_d_id tinyint not null, c_w_id smallint not null, c_first varchar(16),
  c_middle char(2), c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20),
  c_state char(2), c_zip char(9), c_phone char(16), c_since datetime, c_credit char(2), c_credit_lim bigint,
  c_discount decimal(4,2), c_balance decimal(12,2), c_ytd_payment decimal(12,2), c_payment_cnt smallint,
  c_delivery_cnt smallint, c_data text, primary key (c_w_id, c_d_id, c_id)) engine=InnoDB;
create table history (h_c_id int, h_c_d_id tinyint, h_c_w_id smallint, h_d_id tinyint, h_w_id smallint, h_date datetime,
  h_amount decimal(6,2), h_data varchar(24)) engine=InnoDB;
create table new_orders (no_o_id int not null, no_d_id tinyint not null, no_w_id smallint not null,
  primary key (no_w_id, no_d_id, no_o_id)) engine=InnoDB;
create table orders (o_id int not null, o_d_id tinyint not null, o_w_id smallint not null, o_c_id int,
  o_entry_d datetime, o_carrier_id tinyint, o_ol_cnt tinyint, o_all_local tinyint,
  primary key (o_w_id, o_d_id, o_id)) engine=InnoDB;
create table order_line (ol_o_id int not null, ol_d_id tinyint not null, ol_w_id smallint not null,
  ol_number tinyint not null, ol_i_id int, ol_supply_w_id smallint, ol_delivery_d datetime, ol_quantity tinyint,
  ol_amount decimal(6,2), ol_dist_info char(24), primary key (ol_w_id, ol_d_id, ol_o_id, ol_number)) engine=InnoDB;
create table item (i_id int not null, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50),
  primary key (i_id)) engine=InnoDB;
create table stock (s_i_id int not null, s_w_id smallint not null, s_quantity smallint, s_dist_01 char(24),
  s_dist_02 char(24), s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24),
  s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24), s_dist_10 char(24), s_ytd decimal(8,0),
  s_order_cnt smallint, s_remote_cnt smallint, s_data varchar(50), primary key (s_w_id, s_i_id)) engine=InnoDB;
create index idx_customer on customer (c_w_id, c_d_id, c_last, c_first);
create index idx_orders on orders (o_w_id, o_d_id, o_c_id, o_id);
create index fkey_stock_2 on stock (s_i_id);
create index fkey_order_line_2 on order_line (ol_supply_w_id, ol_i_id);
alter table district add constraint fkey_district_1 foreign key (d_w_id) references warehouse (w_id);
alter table customer add constraint fkey_customer_1 foreign key (c_w_id, c_d_id) references district (d_w_id, d_id);
alter table history add constraint fkey_history_1 foreign key (h_c_w_id, h_c_d_id, h_c_id) references customer (c_w_id, c_d_id, c_id),
  add constraint fkey_history_2 foreign key (h_w_id, h_d_id) references district (d_w_id, d_id);
alter table new_orders add constraint fkey_new_orders_1 foreign key (no_w_id, no_d_id, no_o_id) references orders (o_w_id, o_d_id, o_id);
alter table orders add constraint fkey_orders_1 foreign key (o_w_id, o_d_id, o_c_id) references customer (c_w_id, c_d_id, c_id);
alter table order_line add constraint fkey_order_line_1 foreign key (ol_w_id, ol_d_id, ol_o_id) references orders (o_w_id, o_d_id, o_id),
  add constraint fkey_order_line_2 foreign key (ol_supply_w_id, ol_i_id) references stock (s_w_id, s_i_id);
alter table stock add constraint fkey_stock_1 foreign key (s_w_id) references warehouse (w_id),
  add constraint fkey_stock_2 foreign key (s_i_id) references item (i_id);
