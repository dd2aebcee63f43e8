//! Flat code of expressions on a stack, and its evaluation.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    function::{Function, remainder},
    scalar::{EvalError, Scalar},
};

/// One step of an expression: it takes its operands from the stack and leaves its value there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    Push(Scalar),
    /// The variable in this slot.
    Load(u32),
    Binary(Binary),
    Not,
    /// Whether the value is NULL; or is not, for `false`.
    IsNull(bool),
    /// Whether the value is the boolean `value`; or is not, for `is: false`.
    IsBool {
        value: bool,
        is: bool,
    },
    /// The function with this number of arguments.
    Call(Function, u8),
    /// Jumps to this place of the code if the left side of AND or OR decides, whose value stays; takes it otherwise.
    Decide {
        /// The left side that decides: FALSE for AND, TRUE for OR.
        by: bool,
        to: u32,
    },
    /// The value has to be a boolean or NULL.
    Boolean,
    /// Takes a condition, and jumps to this place of the code unless it holds.
    JumpUnless(u32),
    Jump(u32),
}

/// An operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// What an expression reads besides its code.
pub(super) struct Scope<'a, F: Fn(u32) -> Result<Scalar, EvalError>> {
    /// The value of the variable in a slot.
    pub(super) load: F,
    pub(super) random: &'a mut Xoshiro256PlusPlus,
    /// Reused from one expression to the next.
    pub(super) stack: &'a mut Vec<Scalar>,
}

impl<F: Fn(u32) -> Result<Scalar, EvalError>> Scope<'_, F> {
    /// The value of an expression.
    pub(super) fn evaluate(&mut self, code: &[Op]) -> Result<Scalar, EvalError> {
        self.stack.clear();
        let mut at = 0;
        while let Some(op) = code.get(at) {
            at += 1;
            match *op {
                Op::Push(value) => self.stack.push(value),
                Op::Load(slot) => {
                    let value = (self.load)(slot)?;
                    self.stack.push(value);
                }
                Op::Binary(operator) => {
                    let (right, left) = (self.take(), self.take());
                    self.stack.push(operator.apply(left, right)?);
                }
                Op::Not => {
                    let value = match self.take() {
                        Scalar::Null => Scalar::Null,
                        other => Scalar::Bool(!other.bool()?),
                    };
                    self.stack.push(value);
                }
                Op::IsNull(is) => {
                    let is_null = self.take() == Scalar::Null;
                    self.stack.push(Scalar::Bool(is_null == is));
                }
                Op::IsBool { value, is } => {
                    let is_value = self.take() == Scalar::Bool(value);
                    self.stack.push(Scalar::Bool(is_value == is));
                }
                Op::Call(function, arguments) => {
                    let first = self.stack.len().saturating_sub(arguments.into());
                    let value = function.call(&self.stack[first..], self.random)?;
                    self.stack.truncate(first);
                    self.stack.push(value);
                }
                Op::Decide { by, to } => {
                    let left = self.take();
                    if left == Scalar::Null || left.bool()? == by {
                        self.stack.push(left);
                        at = to as usize;
                    }
                }
                Op::Boolean => {
                    let value = self.take();
                    if value != Scalar::Null {
                        value.bool()?;
                    }
                    self.stack.push(value);
                }
                Op::JumpUnless(to) => {
                    if !self.take().is_true() {
                        at = to as usize;
                    }
                }
                Op::Jump(to) => at = to as usize,
            }
        }
        Ok(self.take())
    }

    fn take(&mut self) -> Scalar {
        self.stack
            .pop()
            .expect("the parser puts every operand before its operator")
    }
}

impl Binary {
    fn apply(self, left: Scalar, right: Scalar) -> Result<Scalar, EvalError> {
        let has = |kind: fn(&Scalar) -> bool| kind(&left) || kind(&right);
        if has(|value| *value == Scalar::Null) {
            return Ok(Scalar::Null);
        }
        match self {
            Self::BitAnd | Self::BitOr | Self::BitXor | Self::ShiftLeft | Self::ShiftRight => {
                Ok(Scalar::Int(self.of_bits(left.int()?, right.int()?)))
            }
            Self::Remainder => remainder(left.int()?, right.int()?),
            _ if has(|value| matches!(value, Scalar::Double(_))) => {
                Ok(self.of_doubles(left.double()?, right.double()?))
            }
            _ => self.of_ints(left.int()?, right.int()?),
        }
    }

    /// As on most processors, a shift by 64 bits is one by none.
    fn of_bits(self, left: i64, right: i64) -> i64 {
        match self {
            Self::BitAnd => left & right,
            Self::BitOr => left | right,
            Self::BitXor => left ^ right,
            Self::ShiftLeft => left.wrapping_shl(right as u32),
            _ => left.wrapping_shr(right as u32),
        }
    }

    fn of_doubles(self, left: f64, right: f64) -> Scalar {
        match self {
            Self::Add => Scalar::Double(left + right),
            Self::Subtract => Scalar::Double(left - right),
            Self::Multiply => Scalar::Double(left * right),
            Self::Divide => Scalar::Double(left / right),
            other => Scalar::Bool(other.holds(left.partial_cmp(&right))),
        }
    }

    fn of_ints(self, left: i64, right: i64) -> Result<Scalar, EvalError> {
        let (result, name) = match self {
            Self::Add => (left.checked_add(right), "+"),
            Self::Subtract => (left.checked_sub(right), "-"),
            Self::Multiply => (left.checked_mul(right), "*"),
            Self::Divide if right == 0 => return Err(EvalError::DivisionByZero),
            Self::Divide => (left.checked_div(right), "/"),
            other => return Ok(Scalar::Bool(other.holds(Some(left.cmp(&right))))),
        };
        result.map(Scalar::Int).ok_or(EvalError::OutOfRange(name))
    }

    /// Whether a comparison holds; `None` for a NaN, of which only inequality holds.
    fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        match self {
            Self::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Unequal => !order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Self::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            _ => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}
