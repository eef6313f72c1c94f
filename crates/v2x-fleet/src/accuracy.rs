//! How well a vehicle knows where it is and how it moves.

/// Standard deviations of what vehicles tell of themselves, each drawn anew for each message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accuracy {
    /// Of the place, each axis `[m]`.
    pub position_m: f64,
    /// Of the speed `[m/s]`.
    pub speed_m_s: f64,
    /// Of the direction `[degree]`.
    pub heading_deg: f64,
}

impl Default for Accuracy {
    /// 1.5 m, 0.28 m/s and 2 degrees: what SAE J2945/1 (2016), clause 6.2, asks of a vehicle above 12.5 m/s in 68 % of its
    /// messages, taken as one standard deviation.
    fn default() -> Self {
        Self { position_m: 1.5, speed_m_s: 0.28, heading_deg: 2.0 }
    }
}

impl Accuracy {
    /// Half axis of the circle that holds the true place in 95 % of cases, as a message tells it `[cm]`.
    ///
    /// sqrt(-2 ln 0.05) standard deviations of an axis; 4094 is the most a message can tell.
    pub fn position_confidence_cm(&self) -> u16 {
        libm::round(self.position_m * 244.77).clamp(1.0, 4_094.0) as u16
    }

    /// What holds the true speed in 95 % of cases `[cm/s]`; 126 is out of range.
    pub fn speed_confidence_cm_s(&self) -> u8 {
        libm::round(self.speed_m_s * 196.0).clamp(1.0, 126.0) as u8
    }

    /// What holds the true direction in 95 % of cases `[0.1 degree]`; 126 is out of range.
    pub fn heading_confidence(&self) -> u8 {
        libm::round(self.heading_deg * 19.6).clamp(1.0, 126.0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_tell_95_percent() {
        let accuracy = Accuracy::default();
        assert_eq!(accuracy.position_confidence_cm(), 367);
        assert_eq!((accuracy.speed_confidence_cm_s(), accuracy.heading_confidence()), (55, 39));
        let none = Accuracy { position_m: 0.0, speed_m_s: 0.0, heading_deg: 0.0 };
        assert_eq!((none.position_confidence_cm(), none.speed_confidence_cm_s()), (1, 1), "zero is no confidence");
        let poor = Accuracy { position_m: 100.0, speed_m_s: 9.0, heading_deg: 90.0 };
        assert_eq!((poor.position_confidence_cm(), poor.heading_confidence()), (4_094, 126));
    }
}
