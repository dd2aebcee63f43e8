//! A terminal: the virtual client that draws transactions from its deck and executes them.

use std::{sync::Arc, time::Duration};

use load::{Class, Failure, Moment, Next, OperationObserver, User};
use protocol::Endpoint;

use super::{
    deck::{Deck, Transaction},
    deferred::{DeferredDeliveries, Queued},
    input::{Delivery, Home, NewOrder, OrderStatus, Payment, StockLevel},
    key_and_think_times::Pacing,
    nurand::Constants,
    population::DISTRICTS,
    random::{Draw, Purpose},
    session::{Session, Steps},
    statement::{CALLS, Definition, ENDS, SINGLE},
    tally::{SharedTally, Tally},
    transactions::{call, delivery, new_order, order_status, payment, stock_level},
};

/// Parameters common to all terminals of a run.
#[derive(Debug)]
pub struct TerminalPlan {
    /// Number of warehouses in the database.
    pub warehouses: u32,
    /// Constants of NURand.
    pub constants: Constants,
    /// Seed; the same seed gives the same inputs.
    pub seed: u64,
    pub pacing: Pacing,
    pub round_trips: RoundTrips,
    pub deliveries: Deliveries,
    /// The queue of deliveries for couriers.
    pub deferred: DeferredDeliveries,
    pub tally: SharedTally,
}

/// Round trips of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundTrips {
    /// One per statement.
    Statements,
    /// One per transaction: a call of a stored procedure.
    Stored,
}

impl RoundTrips {
    /// The statements that a terminal prepares.
    fn definitions(self) -> &'static [Definition] {
        match self {
            Self::Statements => &SINGLE,
            Self::Stored => &CALLS,
        }
    }

    /// The number of statements that a terminal prepares.
    pub fn prepared_statements(self) -> u64 {
        self.definitions().len() as u64
    }
}

/// Executor of the Delivery transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deliveries {
    /// The terminal, which waits for the result.
    Inline,
    /// Couriers in the background: the terminal queues the delivery and continues (clause 2.7.2).
    Deferred,
}

/// Name of a courier's operation.
pub const DELIVERED: &str = "Deferred Delivery";

/// Polling interval of an idle courier.
const IDLE: Duration = Duration::from_millis(5);

/// Maximum failed attempts at one delivery after the end of a run.
const RETRIES: u32 = 100;

/// Names of the operations, in the order of [`Transaction::ALL`].
pub fn operations() -> Vec<String> {
    Transaction::ALL
        .iter()
        .map(|transaction| transaction.name().to_owned())
        .collect()
}

/// Names of the statements inside the operations; empty if each operation is one statement.
pub(super) fn statements(round_trips: RoundTrips) -> Vec<String> {
    let inside = match round_trips {
        RoundTrips::Statements => SINGLE.iter().chain(&ENDS),
        RoundTrips::Stored => [].iter().chain(&[]),
    };
    inside
        .map(|definition| definition.name.to_owned())
        .collect()
}

/// One terminal at its warehouse, or a courier without one.
pub struct Terminal {
    role: Role,
    /// The delivery that a courier has taken from the queue and not finished.
    queued: Option<Queued>,
    plan: Arc<TerminalPlan>,
    endpoint: Arc<Endpoint>,
    operations: Arc<[String]>,
    statements: Arc<[String]>,
    session: Option<Session>,
    place: Home,
    draw: Draw,
    deck: Deck,
    stage: Stage,
    input: Input,
    /// Input of New-Order, separate from the others because its memory is reused.
    order: NewOrder,
    tally: Tally,
}

/// User of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Operator,
    Courier,
}

/// State of a terminal's operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Choosing,
    Keyed,
    Answered,
}

/// Input of the next transaction.
#[derive(Debug, Clone, Copy)]
enum Input {
    NewOrder,
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Terminal {
    /// The terminal with this index (from 0), not connected yet: terminals are assigned to the warehouses in turn.
    pub fn new(plan: Arc<TerminalPlan>, endpoint: Arc<Endpoint>, index: u32) -> Self {
        let place = Home {
            warehouse: index % plan.warehouses + 1,
            district: index / plan.warehouses % DISTRICTS + 1,
            warehouses: plan.warehouses,
            constants: plan.constants,
        };
        Self {
            draw: Draw::new(plan.seed, Purpose::Terminal, index.into()),
            operations: operations().into(),
            statements: statements(plan.round_trips).into(),
            plan,
            endpoint,
            session: None,
            role: Role::Operator,
            queued: None,
            place,
            deck: Deck::new(),
            stage: Stage::Choosing,
            input: Input::NewOrder,
            order: NewOrder::default(),
            tally: Tally::default(),
        }
    }

    /// Whether the last New-Order of this terminal was rolled back because of its unused item.
    pub fn is_rolled_back(&self) -> bool {
        self.order.is_rolled_back
    }

    /// A courier, which executes queued deliveries, not connected yet.
    pub fn courier(plan: Arc<TerminalPlan>, endpoint: Arc<Endpoint>) -> Self {
        Self {
            role: Role::Courier,
            operations: [DELIVERED.to_owned()].into(),
            ..Self::new(plan, endpoint, 0)
        }
    }

    /// Executes the oldest delivery that is still queued after the end of a run; false if the queue is empty.
    pub async fn deliver_next(&mut self) -> Result<bool, Failure> {
        if self.session.is_none() {
            self.connect().await?;
        }
        if self.next_queued() == Next::Pause(IDLE) {
            return Ok(false);
        }
        let mut failed = 0;
        loop {
            match self.execute(&mut NoObserver).await {
                Ok(()) => return Ok(true),
                Err(failure) if failure.retryable && !failure.lost && failed < RETRIES => {
                    failed += 1;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The courier's unfinished delivery, or else the oldest one of the queue.
    fn next_queued(&mut self) -> Next {
        let queued = self.queued.take().or_else(|| self.plan.deferred.take());
        match queued {
            Some(queued) => {
                self.input = Input::Delivery(queued.delivery);
                self.queued = Some(queued);
                Next::OperationSince(0, queued.since)
            }
            None => Next::Pause(IDLE),
        }
    }

    /// Records the outcome of a queued delivery.
    fn settle_queued(&mut self, result: &Result<(), Failure>) {
        let (Some(queued), Input::Delivery(delivery)) = (self.queued.take(), self.input) else {
            return;
        };
        match result {
            Ok(()) => self.plan.deferred.executed(&delivery),
            Err(failure) if failure.outcome_unknown => self.plan.deferred.lost(),
            // Completed districts stay completed for the courier that takes the delivery next.
            Err(_) => self.queued = Some(Queued { delivery, ..queued }),
        }
    }

    /// Selects the next transaction and generates its input.
    fn choose(&mut self) {
        let draw = &mut self.draw;
        self.input = match self.deck.next(draw) {
            Transaction::NewOrder => {
                self.place.new_order(draw, &mut self.order);
                Input::NewOrder
            }
            Transaction::Payment => Input::Payment(self.place.payment(draw)),
            Transaction::OrderStatus => Input::OrderStatus(self.place.order_status(draw)),
            Transaction::Delivery => Input::Delivery(self.place.delivery(draw)),
            Transaction::StockLevel => Input::StockLevel(self.place.stock_level(draw)),
        };
    }

    /// Counts the input of a transaction that succeeded.
    fn count(&mut self) {
        match &self.input {
            Input::NewOrder => self.tally.new_order(&self.order),
            Input::Payment(payment) => self.tally.payment(payment),
            Input::OrderStatus(status) => self.tally.order_status(status),
            Input::Delivery(delivery) => self.tally.delivery(delivery),
            Input::StockLevel(_) => {}
        }
    }
}

impl Input {
    fn transaction(&self) -> Transaction {
        match self {
            Self::NewOrder => Transaction::NewOrder,
            Self::Payment(_) => Transaction::Payment,
            Self::OrderStatus(_) => Transaction::OrderStatus,
            Self::Delivery(_) => Transaction::Delivery,
            Self::StockLevel(_) => Transaction::StockLevel,
        }
    }

    async fn run(
        &mut self,
        round_trips: RoundTrips,
        order: &NewOrder,
        steps: &mut Steps<'_, impl OperationObserver>,
    ) -> Result<(), Failure> {
        if round_trips == RoundTrips::Stored {
            return match self {
                Self::NewOrder => call::new_order(steps, order).await,
                Self::Payment(input) => call::payment(steps, input).await,
                Self::OrderStatus(input) => call::order_status(steps, input).await,
                Self::Delivery(input) => call::delivery(steps, input).await,
                Self::StockLevel(input) => call::stock_level(steps, input).await,
            };
        }
        match self {
            Self::NewOrder => new_order::run(steps, order).await,
            Self::Payment(input) => payment::run(steps, input).await,
            Self::OrderStatus(input) => order_status::run(steps, input).await,
            Self::Delivery(input) => delivery::run(steps, input).await,
            Self::StockLevel(input) => stock_level::run(steps, input).await,
        }
    }
}

impl User for Terminal {
    fn operations(&self) -> &[String] {
        &self.operations
    }

    fn statements(&self) -> &[String] {
        &self.statements
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.session = None;
        let definitions = self.plan.round_trips.definitions();
        self.session = Some(Session::open(&self.endpoint, definitions).await?);
        Ok(())
    }

    fn next(&mut self) -> Next {
        if self.role == Role::Courier {
            return self.next_queued();
        }
        if self.stage == Stage::Answered {
            self.stage = Stage::Choosing;
            let transaction = self.input.transaction();
            let thinking = self.plan.pacing.think_time(transaction, &mut self.draw);
            if !thinking.is_zero() {
                return Next::Pause(thinking);
            }
        }
        if self.stage == Stage::Choosing {
            self.choose();
            self.stage = Stage::Keyed;
            let keying = self.plan.pacing.key_time(self.input.transaction());
            if !keying.is_zero() {
                return Next::Pause(keying);
            }
        }
        self.stage = Stage::Answered;
        Next::Operation(self.input.transaction() as usize)
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        if let (Role::Operator, Deliveries::Deferred, Input::Delivery(delivery)) =
            (self.role, self.plan.deliveries, self.input)
        {
            let since = watch.moment();
            self.plan.deferred.put(Queued { delivery, since });
            return Ok(());
        }
        let Some(session) = &mut self.session else {
            let not_connected = Failure::of_client("not connected".to_owned());
            return Err(Failure {
                lost: true,
                retryable: true,
                ..not_connected
            });
        };
        let round_trips = self.plan.round_trips;
        let mut steps = Steps { session, watch };
        let mut result = self.input.run(round_trips, &self.order, &mut steps).await;
        match &mut result {
            Ok(()) => self.count(),
            // The server rolls the transaction back, unless it was about to be committed.
            Err(failure) if failure.lost => failure.retryable = !failure.outcome_unknown,
            Err(failure) => {
                // A lock wait timeout leaves the rest of the transaction open.
                if session.undo().await.is_err() {
                    // The next transaction on this connection would commit that rest, so a new connection is needed.
                    self.session = None;
                    failure.lost = failure.retryable;
                }
            }
        }
        self.settle_queued(&result);
        result
    }

    async fn disconnect(&mut self) {
        self.plan.tally.add(&std::mem::take(&mut self.tally));
        if let Some(queued) = self.queued.take() {
            self.plan.deferred.put_back(queued);
        }
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }
}

/// Discards the statements: the remaining deliveries run after the measurement.
struct NoObserver;

impl OperationObserver for NoObserver {
    fn moment(&self) -> Moment {
        Moment { ns: 0 }
    }

    fn statement(&mut self, _statement: usize, _class: Class) {}

    fn returned(&mut self, _rows: u64) {}

    /// A delivery has no pauses.
    async fn pause(&mut self, _time: Duration) {}
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use protocol::Address;

    use super::*;

    fn terminal(index: u32, pacing: Pacing) -> Terminal {
        let plan = TerminalPlan {
            warehouses: 3,
            constants: Constants::of_run(1, None),
            seed: 1,
            pacing,
            round_trips: RoundTrips::Statements,
            deliveries: Deliveries::Deferred,
            deferred: DeferredDeliveries::default(),
            tally: SharedTally::default(),
        };
        let endpoint = Endpoint::plain(Address::Unix("nowhere".into()), "", Duration::from_secs(1));
        Terminal::new(plan.into(), endpoint.into(), index)
    }

    #[test]
    fn terminals_are_dealt_out_to_warehouses_and_districts() {
        let places: Vec<(u32, u32)> = (0..7)
            .map(|index| terminal(index, Pacing::None).place)
            .map(|place| (place.warehouse, place.district))
            .collect();
        assert_eq!(
            places,
            [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2), (1, 3)]
        );
    }

    #[test]
    fn the_mix_is_that_of_the_deck() {
        let mut one = terminal(0, Pacing::None);
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for _ in 0..2300 {
            match one.next() {
                Next::Operation(operation) => *counts.entry(operation).or_default() += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            counts.into_values().collect::<Vec<_>>(),
            [1000, 1000, 100, 100, 100]
        );
    }

    #[test]
    fn a_paced_terminal_keys_in_and_thinks() {
        let mut one = terminal(0, Pacing::Specification);
        for _ in 0..50 {
            assert!(matches!(one.next(), Next::Pause(key) if key.as_secs() >= 2));
            assert!(matches!(one.next(), Next::Operation(_)));
            assert!(matches!(one.next(), Next::Pause(_)));
        }
    }

    #[test]
    fn the_same_seed_keys_in_the_same() {
        let inputs = |index| -> Vec<String> {
            let mut one = terminal(index, Pacing::None);
            let mut input = || {
                one.next();
                format!("{:?} {:?}", one.input, one.order)
            };
            (0..100).map(|_| input()).collect()
        };
        assert_eq!(inputs(0), inputs(0));
        assert_ne!(inputs(0), inputs(1));
    }
}
