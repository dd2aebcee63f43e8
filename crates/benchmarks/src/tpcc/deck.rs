//! The deck of 23 cards from which a terminal draws its transactions without replacement.

use super::random::Draw;

/// The transactions, in the specification's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    /// A customer orders.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest orders of all districts are delivered.
    Delivery,
    /// A clerk asks which items run low.
    StockLevel,
}

impl Transaction {
    /// All transactions; the index is that of the operation.
    pub(super) const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// The specification's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "New-Order",
            Self::Payment => "Payment",
            Self::OrderStatus => "Order-Status",
            Self::Delivery => "Delivery",
            Self::StockLevel => "Stock-Level",
        }
    }

    /// Number of cards in the deck.
    fn cards(self) -> usize {
        match self {
            Self::NewOrder | Self::Payment => 10,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 1,
        }
    }
}

/// One terminal's deck.
///
/// Source: TPC-C 5.11, clause 5.2.4.2.
#[derive(Debug)]
pub(super) struct Deck {
    cards: Vec<Transaction>,
    /// Cards that were drawn since the deck was shuffled.
    drawn: usize,
}

impl Deck {
    pub(super) fn new() -> Self {
        let cards: Vec<_> = Transaction::ALL
            .into_iter()
            .flat_map(|transaction| std::iter::repeat_n(transaction, transaction.cards()))
            .collect();
        Self {
            drawn: cards.len(),
            cards,
        }
    }

    /// The next card; an empty deck is shuffled first.
    pub(super) fn next(&mut self, draw: &mut Draw) -> Transaction {
        if self.drawn == self.cards.len() {
            draw.shuffle(&mut self.cards);
            self.drawn = 0;
        }
        self.drawn += 1;
        self.cards[self.drawn - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::random::Purpose;

    #[test]
    fn every_23_cards_hold_the_whole_deck() {
        let mut draw = Draw::new(1, Purpose::Terminal, 0);
        let mut deck = Deck::new();
        let mut first = Vec::new();
        for round in 0..50 {
            let cards: Vec<_> = (0..23).map(|_| deck.next(&mut draw)).collect();
            let count = |wanted| cards.iter().filter(|card| **card == wanted).count();
            assert_eq!(
                Transaction::ALL.map(count),
                [10, 10, 1, 1, 1],
                "round {round}"
            );
            match round {
                0 => first = cards,
                1 => assert_ne!(first, cards, "it is shuffled anew"),
                _ => {}
            }
        }
    }
}
