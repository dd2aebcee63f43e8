//! The eight tables: columns, primary keys and foreign keys.
//!
//! Source: TPC-H 3.0, clause 1.4.

use crate::KnownTable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Lines of orders: six of every seven rows.
    LineItem,
    /// Orders; 1,500,000 at scale factor 1.
    Orders,
    /// Suppliers of each part, four per part.
    PartSupp,
    /// Parts; 200,000 at scale factor 1.
    Part,
    /// Customers; 150,000 at scale factor 1.
    Customer,
    /// Suppliers; 10,000 at scale factor 1.
    Supplier,
    /// 25 nations.
    Nation,
    /// 5 regions.
    Region,
}

/// A foreign key; it has its own index unless the primary key can serve as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name, and that of its index.
    pub name: &'static str,
    pub columns: &'static str,
    /// The table that it refers to, by its primary key.
    pub to: Table,
}

const fn refers(name: &'static str, columns: &'static str, to: Table) -> ForeignKey {
    ForeignKey { name, columns, to }
}

impl Table {
    /// All tables, the largest first.
    pub const ALL: [Self; 8] = [
        Self::LineItem,
        Self::Orders,
        Self::PartSupp,
        Self::Part,
        Self::Customer,
        Self::Supplier,
        Self::Nation,
        Self::Region,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::LineItem => "lineitem",
            Self::Orders => "orders",
            Self::PartSupp => "partsupp",
            Self::Part => "part",
            Self::Customer => "customer",
            Self::Supplier => "supplier",
            Self::Nation => "nation",
            Self::Region => "region",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Columns with their types, in dbgen's order.
    pub(super) fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::LineItem => &[
                ("l_orderkey", "bigint"),
                ("l_partkey", "int"),
                ("l_suppkey", "int"),
                ("l_linenumber", "int"),
                ("l_quantity", "decimal(15,2)"),
                ("l_extendedprice", "decimal(15,2)"),
                ("l_discount", "decimal(15,2)"),
                ("l_tax", "decimal(15,2)"),
                ("l_returnflag", "char(1)"),
                ("l_linestatus", "char(1)"),
                ("l_shipdate", "date"),
                ("l_commitdate", "date"),
                ("l_receiptdate", "date"),
                ("l_shipinstruct", "char(25)"),
                ("l_shipmode", "char(10)"),
                ("l_comment", "varchar(44)"),
            ],
            Self::Orders => &[
                ("o_orderkey", "bigint"),
                ("o_custkey", "int"),
                ("o_orderstatus", "char(1)"),
                ("o_totalprice", "decimal(15,2)"),
                ("o_orderdate", "date"),
                ("o_orderpriority", "char(15)"),
                ("o_clerk", "char(15)"),
                ("o_shippriority", "int"),
                ("o_comment", "varchar(79)"),
            ],
            Self::PartSupp => &[
                ("ps_partkey", "int"),
                ("ps_suppkey", "int"),
                ("ps_availqty", "int"),
                ("ps_supplycost", "decimal(15,2)"),
                ("ps_comment", "varchar(199)"),
            ],
            Self::Part => &[
                ("p_partkey", "int"),
                ("p_name", "varchar(55)"),
                ("p_mfgr", "char(25)"),
                ("p_brand", "char(10)"),
                ("p_type", "varchar(25)"),
                ("p_size", "int"),
                ("p_container", "char(10)"),
                ("p_retailprice", "decimal(15,2)"),
                ("p_comment", "varchar(23)"),
            ],
            Self::Customer => &[
                ("c_custkey", "int"),
                ("c_name", "varchar(25)"),
                ("c_address", "varchar(40)"),
                ("c_nationkey", "int"),
                ("c_phone", "char(15)"),
                ("c_acctbal", "decimal(15,2)"),
                ("c_mktsegment", "char(10)"),
                ("c_comment", "varchar(117)"),
            ],
            Self::Supplier => &[
                ("s_suppkey", "int"),
                ("s_name", "char(25)"),
                ("s_address", "varchar(40)"),
                ("s_nationkey", "int"),
                ("s_phone", "char(15)"),
                ("s_acctbal", "decimal(15,2)"),
                ("s_comment", "varchar(101)"),
            ],
            Self::Nation => &[
                ("n_nationkey", "int"),
                ("n_name", "char(25)"),
                ("n_regionkey", "int"),
                ("n_comment", "varchar(152)"),
            ],
            Self::Region => &[
                ("r_regionkey", "int"),
                ("r_name", "char(25)"),
                ("r_comment", "varchar(152)"),
            ],
        }
    }

    /// Columns of the primary key.
    pub(super) fn primary_key(self) -> &'static str {
        match self {
            Self::LineItem => "l_orderkey, l_linenumber",
            Self::Orders => "o_orderkey",
            Self::PartSupp => "ps_partkey, ps_suppkey",
            Self::Part => "p_partkey",
            Self::Customer => "c_custkey",
            Self::Supplier => "s_suppkey",
            Self::Nation => "n_nationkey",
            Self::Region => "r_regionkey",
        }
    }

    pub(super) fn foreign_keys(self) -> &'static [ForeignKey] {
        match self {
            Self::LineItem => {
                const {
                    &[
                        refers("lineitem_order", "l_orderkey", Self::Orders),
                        refers(
                            "lineitem_part_supplier",
                            "l_partkey, l_suppkey",
                            Self::PartSupp,
                        ),
                    ]
                }
            }
            Self::Orders => const { &[refers("orders_customer", "o_custkey", Self::Customer)] },
            Self::PartSupp => {
                const {
                    &[
                        refers("partsupp_part", "ps_partkey", Self::Part),
                        refers("partsupp_supplier", "ps_suppkey", Self::Supplier),
                    ]
                }
            }
            Self::Customer => const { &[refers("customer_nation", "c_nationkey", Self::Nation)] },
            Self::Supplier => const { &[refers("supplier_nation", "s_nationkey", Self::Nation)] },
            Self::Nation => const { &[refers("nation_region", "n_regionkey", Self::Region)] },
            Self::Part | Self::Region => &[],
        }
    }

    /// The names of its columns, in the order of a row.
    pub(super) fn column_list(self) -> String {
        let names: Vec<_> = self.columns().iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

/// All tables of TPC-H in the order of [`Table::ALL`], as found in a database.
pub fn known_tables() -> Vec<KnownTable> {
    let known = |table: Table| {
        let columns = table.columns().iter().map(|(name, _)| *name);
        KnownTable::new(table.name(), columns)
    };
    Table::ALL.into_iter().map(known).collect()
}
