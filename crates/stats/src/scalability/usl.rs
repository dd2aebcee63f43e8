//! The Universal Scalability Law: throughput for each concurrency.

/// The result of one execution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Active connections or threads, at least 1.
    pub concurrency: f64,
    /// Operations per second, positive.
    pub throughput_per_s: f64,
}

/// The parameters of the law X(N) = λN / (1 + σ(N - 1) + κN(N - 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UslModel {
    /// λ, operations per second of a single connection.
    pub single_per_s: f64,
    /// σ, contention: the share of the work that is serialised.
    pub contention: f64,
    /// κ, coherency: the cost of each pair of connections.
    pub coherency: f64,
}

impl UslModel {
    /// Throughput at a concurrency, per second.
    pub fn at(&self, concurrency: f64) -> f64 {
        let others = concurrency - 1.0;
        let cost = 1.0 + self.contention * others + self.coherency * concurrency * others;
        self.single_per_s * concurrency / cost
    }

    /// The concurrency with the highest throughput, √((1 - σ) / κ): at least 1.
    pub fn peak(&self) -> f64 {
        ((1.0 - self.contention) / self.coherency).max(1.0).sqrt()
    }

    /// The typical distance of points from the law, see [`curve_residual`].
    pub fn residual(&self, points: &[Point]) -> f64 {
        curve_residual(points, |concurrency| self.at(concurrency))
    }
}

/// The typical distance of points from a curve of the throughput over the concurrency, as a share: the root mean square
/// of the logarithms. NaN without points.
pub fn curve_residual(points: &[Point], throughput_per_s: impl Fn(f64) -> f64) -> f64 {
    let squares = points.iter().map(|point| {
        (point.throughput_per_s / throughput_per_s(point.concurrency))
            .ln()
            .powi(2)
    });
    (squares.sum::<f64>() / points.len() as f64).sqrt().exp_m1()
}
