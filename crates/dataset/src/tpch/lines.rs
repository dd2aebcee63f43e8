//! Rows as the lines of LOAD DATA: fields with tabs between them.
//!
//! No text of TPC-H contains a tab, a line feed or a backslash, so no escaping is needed.

use std::io::Write;

use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{Customer, LineItem, Nation, Order, Part, PartSupp, Region, Supplier};

/// A row that can be written as a line, such as
/// `1<tab>156<tab>4<tab>1<tab>17<tab>17954.55<tab>0.04<tab>0.02<tab>N<tab>O<tab>1996-03-13<tab>1996-02-12<tab>...`.
pub(super) trait Row {
    /// Appends its line.
    fn write(&self, out: &mut Vec<u8>);
}

/// The fields of one line.
struct Fields<'o>(&'o mut Vec<u8>);

impl Fields<'_> {
    fn integer(&mut self, value: impl itoa::Integer) -> &mut Self {
        self.bytes(itoa::Buffer::new().format(value).as_bytes())
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Names and addresses, which the generator provides only as `Display`.
    fn shown(&mut self, value: &impl std::fmt::Display) -> &mut Self {
        write!(self.0, "{value}\t").expect("writing to memory cannot fail");
        self
    }

    fn decimal(&mut self, value: TPCHDecimal) -> &mut Self {
        let (whole, hundredths) = (value.int_digits(), value.decimal_digits());
        if value.is_negative() {
            self.0.push(b'-');
        }
        let mut digits = itoa::Buffer::new();
        self.0.extend_from_slice(digits.format(whole).as_bytes());
        self.0.push(b'.');
        self.two_digits(hundredths);
        self.0.push(b'\t');
        self
    }

    /// A date; all dates of TPC-H are in the years from 1992 to 1998.
    fn date(&mut self, value: TPCHDate) -> &mut Self {
        let (year, month, day) = value.to_ymd();
        self.0.extend_from_slice(b"19");
        self.two_digits(year.into());
        self.0.push(b'-');
        self.two_digits(month.into());
        self.0.push(b'-');
        self.two_digits(day.into());
        self.0.push(b'\t');
        self
    }

    fn end(&mut self) {
        if let Some(last) = self.0.last_mut() {
            *last = b'\n';
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self.0.push(b'\t');
        self
    }

    fn two_digits(&mut self, value: i64) {
        let digit = |value: i64| b'0' + (value % 10) as u8;
        self.0.extend([digit(value / 10), digit(value)]);
    }
}

impl Row for LineItem<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.l_orderkey)
            .integer(self.l_partkey)
            .integer(self.l_suppkey)
            .integer(self.l_linenumber)
            .integer(self.l_quantity)
            .decimal(self.l_extendedprice)
            .decimal(self.l_discount)
            .decimal(self.l_tax)
            .text(self.l_returnflag)
            .text(self.l_linestatus)
            .date(self.l_shipdate)
            .date(self.l_commitdate)
            .date(self.l_receiptdate)
            .text(self.l_shipinstruct)
            .text(self.l_shipmode)
            .text(self.l_comment)
            .end();
    }
}

impl Row for Order<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.o_orderkey)
            .integer(self.o_custkey)
            .text(self.o_orderstatus.as_str())
            .decimal(self.o_totalprice)
            .date(self.o_orderdate)
            .text(self.o_orderpriority)
            .shown(&self.o_clerk)
            .integer(self.o_shippriority)
            .text(self.o_comment)
            .end();
    }
}

impl Row for PartSupp<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.ps_partkey)
            .integer(self.ps_suppkey)
            .integer(self.ps_availqty)
            .decimal(self.ps_supplycost)
            .text(self.ps_comment)
            .end();
    }
}

impl Row for Part<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.p_partkey)
            .shown(&self.p_name)
            .shown(&self.p_mfgr)
            .shown(&self.p_brand)
            .text(self.p_type)
            .integer(self.p_size)
            .text(self.p_container)
            .decimal(self.p_retailprice)
            .text(self.p_comment)
            .end();
    }
}

impl Row for Customer<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.c_custkey)
            .shown(&self.c_name)
            .shown(&self.c_address)
            .integer(self.c_nationkey)
            .shown(&self.c_phone)
            .decimal(self.c_acctbal)
            .text(self.c_mktsegment)
            .text(self.c_comment)
            .end();
    }
}

impl Row for Supplier {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.s_suppkey)
            .shown(&self.s_name)
            .shown(&self.s_address)
            .integer(self.s_nationkey)
            .shown(&self.s_phone)
            .decimal(self.s_acctbal)
            .text(&self.s_comment)
            .end();
    }
}

impl Row for Nation<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.n_nationkey)
            .text(self.n_name)
            .integer(self.n_regionkey)
            .text(self.n_comment)
            .end();
    }
}

impl Row for Region<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        Fields(out)
            .integer(self.r_regionkey)
            .text(self.r_name)
            .text(self.r_comment)
            .end();
    }
}
