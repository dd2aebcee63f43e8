//! The consistency conditions of clause 3.3.2, each one statement over the whole database.

use std::collections::BTreeMap;

use protocol::Connection;

/// Maximum violations of one condition that are read; beyond this limit only their existence is reported.
const VIOLATIONS_MAX: usize = 100_000;

#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its number in clause 3.3.2; 13 is dbdyno's own.
    pub number: u8,
    /// The rule that must hold.
    pub rule: &'static str,
    /// Statement that selects the rows that violate it.
    sql: &'static str,
    /// Number of leading columns that identify the row; the others are the values found and expected.
    key_columns: usize,
}

/// Rows that violate a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub condition: &'static Condition,
    /// The violation for each row: by the row's key, such as `w_id 1`, the values, such as
    /// `w_ytd 300000.00, sum(d_ytd) 299999.00`.
    pub rows: BTreeMap<String, String>,
    /// True if there are more rows than were read.
    pub has_more: bool,
}

impl Violation {
    /// The part of this violation that is new since an earlier check; `None` if nothing is new.
    pub fn since(&self, earlier: &[Self]) -> Option<Self> {
        let known = earlier
            .iter()
            .find(|violation| violation.condition == self.condition);
        let is_new = |name: &String| known.is_none_or(|known| !known.rows.contains_key(name));
        let new = self.rows.iter().filter(|(name, _)| is_new(name));
        let rows: BTreeMap<_, _> = new
            .map(|(name, what)| (name.clone(), what.clone()))
            .collect();
        (!rows.is_empty()).then_some(Self {
            condition: self.condition,
            rows,
            has_more: self.has_more,
        })
    }
}

/// The conditions that always hold: all but 11, and that the stock's counters agree with the order lines.
///
/// Large tables are combined by UNION ALL and grouped, not joined: MySQL 5.5 has no index on a grouped table, and needs
/// minutes for a join of two.
///
/// Source: TPC-C 5.11, clauses 3.3.2.1 to 3.3.2.12; the last one follows from clause 2.4.2.2.
pub static CONDITIONS: [Condition; 12] = [
    Condition {
        number: 1,
        rule: "W_YTD is the sum of D_YTD",
        sql: "select w_id, w_ytd, d_sum `sum(d_ytd)` from warehouse left join \
              (select d_w_id, sum(d_ytd) d_sum from district group by d_w_id) d on d_w_id = w_id \
              where w_ytd <> coalesce(d_sum, 0)",
        key_columns: 1,
    },
    Condition {
        number: 2,
        rule: "D_NEXT_O_ID - 1 is the largest O_ID and NO_O_ID",
        sql: "select d_w_id, d_id, d_next_o_id, o_max `max(o_id)`, no_max `max(no_o_id)` from district \
              left join (select o_w_id, o_d_id, max(o_id) o_max from orders group by o_w_id, o_d_id) o \
              on o_w_id = d_w_id and o_d_id = d_id \
              left join (select no_w_id, no_d_id, max(no_o_id) no_max from new_orders group by no_w_id, no_d_id) n \
              on no_w_id = d_w_id and no_d_id = d_id \
              where o_max is null or d_next_o_id - 1 <> o_max or no_max <> o_max",
        key_columns: 2,
    },
    Condition {
        number: 3,
        rule: "the NO_O_ID of a district have no gap",
        sql: "select no_w_id, no_d_id, min(no_o_id), max(no_o_id), count(*) from new_orders \
              group by no_w_id, no_d_id having max(no_o_id) - min(no_o_id) + 1 <> count(*)",
        key_columns: 2,
    },
    Condition {
        number: 4,
        rule: "the sum of O_OL_CNT is the number of order lines",
        sql: "select o_w_id, o_d_id, o_sum `sum(o_ol_cnt)`, ol_count `order lines` from \
              (select o_w_id, o_d_id, sum(o_ol_cnt) o_sum from orders group by o_w_id, o_d_id) o left join \
              (select ol_w_id, ol_d_id, count(*) ol_count from order_line group by ol_w_id, ol_d_id) l \
              on ol_w_id = o_w_id and ol_d_id = o_d_id where o_sum <> coalesce(ol_count, 0)",
        key_columns: 2,
    },
    Condition {
        number: 5,
        rule: "O_CARRIER_ID is null exactly where there is a NEW-ORDER row",
        sql: "select o_w_id, o_d_id, o_id, o_carrier_id, no_o_id from orders \
              left join new_orders on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id \
              where (o_carrier_id is null) <> (no_o_id is not null)",
        key_columns: 3,
    },
    Condition {
        number: 6,
        rule: "O_OL_CNT is the number of the order's lines",
        sql: "select o_w_id, o_d_id, o_id, sum(said) o_ol_cnt, sum(found) `order lines` from \
              (select o_w_id, o_d_id, o_id, o_ol_cnt said, 0 found from orders union all \
              select ol_w_id, ol_d_id, ol_o_id, 0, count(*) from order_line group by ol_w_id, ol_d_id, ol_o_id) o \
              group by o_w_id, o_d_id, o_id having sum(said) <> sum(found)",
        key_columns: 3,
    },
    Condition {
        number: 7,
        rule: "OL_DELIVERY_D is null exactly where O_CARRIER_ID is",
        sql: "select ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id from orders \
              join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id \
              where (ol_delivery_d is null) <> (o_carrier_id is null)",
        key_columns: 4,
    },
    Condition {
        number: 8,
        rule: "W_YTD is the sum of the warehouse's H_AMOUNT",
        sql: "select w_id, w_ytd, h_sum `sum(h_amount)` from warehouse left join \
              (select h_w_id, sum(h_amount) h_sum from history group by h_w_id) h on h_w_id = w_id \
              where w_ytd <> coalesce(h_sum, 0)",
        key_columns: 1,
    },
    Condition {
        number: 9,
        rule: "D_YTD is the sum of the district's H_AMOUNT",
        sql: "select d_w_id, d_id, d_ytd, h_sum `sum(h_amount)` from district left join \
              (select h_w_id, h_d_id, sum(h_amount) h_sum from history group by h_w_id, h_d_id) h \
              on h_w_id = d_w_id and h_d_id = d_id where d_ytd <> coalesce(h_sum, 0)",
        key_columns: 2,
    },
    Condition {
        number: 10,
        rule: "C_BALANCE is what was delivered less what was paid",
        sql: "select c_w_id, c_d_id, c_id, sum(balance) c_balance, sum(delivered) delivered, sum(paid) paid from \
              (select c_w_id, c_d_id, c_id, c_balance balance, 0 delivered, 0 paid from customer union all \
              select o_w_id, o_d_id, o_c_id, 0, sum(ol_amount), 0 from orders \
              join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id \
              where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id union all \
              select h_c_w_id, h_c_d_id, h_c_id, 0, 0, h_amount from history) c \
              group by c_w_id, c_d_id, c_id having sum(balance) <> sum(delivered) - sum(paid)",
        key_columns: 3,
    },
    Condition {
        number: 12,
        rule: "C_BALANCE and C_YTD_PAYMENT together are what was delivered",
        sql: "select c_w_id, c_d_id, c_id, sum(balance) c_balance, sum(ytd) c_ytd_payment, sum(delivered) delivered from \
              (select c_w_id, c_d_id, c_id, c_balance balance, c_ytd_payment ytd, 0 delivered from customer union all \
              select o_w_id, o_d_id, o_c_id, 0, 0, sum(ol_amount) from orders \
              join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id \
              where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) c \
              group by c_w_id, c_d_id, c_id having sum(balance) + sum(ytd) <> sum(delivered)",
        key_columns: 3,
    },
    Condition {
        number: 13,
        rule: "S_YTD, S_ORDER_CNT and S_REMOTE_CNT agree with the lines of the orders after the first 3,000",
        sql: "select s_w_id, s_i_id, sum(ytd) s_ytd, sum(order_cnt) s_order_cnt, sum(remote_cnt) s_remote_cnt, \
              sum(sold) sold, sum(line) `lines`, sum(remote) remote_lines from \
              (select s_w_id, s_i_id, s_ytd ytd, s_order_cnt order_cnt, s_remote_cnt remote_cnt, \
              0 sold, 0 line, 0 remote from stock \
              where s_ytd <> 0 or s_order_cnt <> 0 or s_remote_cnt <> 0 union all \
              select ol_supply_w_id, ol_i_id, 0, 0, 0, ol_quantity, 1, ol_supply_w_id <> ol_w_id from order_line \
              where ol_o_id > 3000) s \
              group by s_w_id, s_i_id having sum(ytd) <> sum(sold) or sum(order_cnt) <> sum(line) \
              or sum(remote_cnt) <> sum(remote)",
        key_columns: 2,
    },
];

/// The condition that holds only right after the load.
///
/// Source: TPC-C 5.11, clause 3.3.2.11.
pub(super) static AFTER_LOAD: Condition = Condition {
    number: 11,
    rule: "2,100 orders of a district have no NEW-ORDER row (only right after the load)",
    sql: "select d_w_id, d_id, o_count orders, no_count `new orders` from district left join \
          (select o_w_id, o_d_id, count(*) o_count from orders group by o_w_id, o_d_id) o \
          on o_w_id = d_w_id and o_d_id = d_id left join \
          (select no_w_id, no_d_id, count(*) no_count from new_orders group by no_w_id, no_d_id) n \
          on no_w_id = d_w_id and no_d_id = d_id where coalesce(o_count, 0) - coalesce(no_count, 0) <> 2100",
    key_columns: 2,
};

impl Condition {
    /// The rows of the current database that violate the condition; `None` if there are none.
    pub async fn check(
        &'static self,
        connection: &mut Connection,
    ) -> Result<Option<Violation>, protocol::Error> {
        let sql = format!("{} limit {}", self.sql, VIOLATIONS_MAX + 1);
        let sets = connection.rows(&sql).await?;
        let Some(set) = sets.into_iter().next().filter(|set| !set.rows.is_empty()) else {
            return Ok(None);
        };
        let has_more = set.rows.len() > VIOLATIONS_MAX;
        let texts = |row: &[Option<Vec<u8>>]| -> Vec<String> {
            let columns = set.columns.iter();
            let values = columns.zip(row).map(|(name, value)| match value {
                Some(value) => format!("{name} {}", String::from_utf8_lossy(value)),
                None => format!("{name} null"),
            });
            values.collect()
        };
        let named = set.rows.iter().take(VIOLATIONS_MAX).map(|row| {
            let texts = texts(row);
            let (name, values) = texts.split_at(self.key_columns.min(texts.len()));
            (name.join(" "), values.join(", "))
        });
        Ok(Some(Violation {
            condition: self,
            rows: named.collect(),
            has_more,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(names: &[&str]) -> Violation {
        Violation {
            condition: &CONDITIONS[0],
            rows: names
                .iter()
                .map(|name| ((*name).to_owned(), String::new()))
                .collect(),
            has_more: false,
        }
    }

    #[test]
    fn what_was_there_before_is_not_new() {
        let after = violation(&["w_id 1", "w_id 2"]);
        assert_eq!(after.since(&[]), Some(after.clone()));
        assert_eq!(
            after.since(&[violation(&["w_id 1"])]),
            Some(violation(&["w_id 2"]))
        );
        assert_eq!(after.since(std::slice::from_ref(&after)), None);
        let other = Violation {
            condition: &CONDITIONS[1],
            ..after.clone()
        };
        assert_eq!(after.since(&[other]), Some(after));
    }

    #[test]
    fn every_condition_is_there_once() {
        let mut numbers: Vec<u8> = CONDITIONS
            .iter()
            .map(|condition| condition.number)
            .collect();
        numbers.push(AFTER_LOAD.number);
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=13).collect::<Vec<_>>());
    }
}
