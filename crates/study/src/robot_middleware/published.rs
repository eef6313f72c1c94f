//! What the source printed in its Tables 1 to 4, read from `studies/robot-middleware/published/tables.csv`. Nothing is corrected.

const TABLES: &str = include_str!("../../../../studies/robot-middleware/published/tables.csv");

/// One cell: a configuration, data and a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Printed {
    /// The configuration, as printed.
    pub configuration: &'static str,
    /// `laser`, `image` or `cloud`.
    pub data: &'static str,
    /// Profile of the link that stands for it.
    pub network: &'static str,
    /// Mean and standard deviation of the latency `[us]`; `None`: printed as not available.
    pub latency: Option<(f64, f64)>,
    /// Messages lost `[%]`.
    pub loss: f64,
}

/// Every cell, in the order of the tables.
///
/// # Panics
/// Never: the tables are part of the program.
pub fn tables() -> Vec<Printed> {
    TABLES.lines().skip(1).map(|line| cell(line).expect("the file is part of the program")).collect()
}

fn cell(line: &'static str) -> Option<Printed> {
    let mut fields = line.split(',');
    let configuration = fields.next()?;
    let data = match fields.next()? {
        "Laser" => "laser",
        "Image" => "image",
        "Point Cloud" => "cloud",
        _ => return None,
    };
    let network = match fields.next()? {
        "Local" => "localhost",
        "Ethernet" => "gigabit-ethernet",
        "Wifi" => "wifi",
        _ => return None,
    };
    let (mean, deviation, loss) = (fields.next()?, fields.next()?, fields.next()?);
    let latency = mean.parse().ok().zip(deviation.parse().ok());
    Some(Printed { configuration, data, network, latency, loss: loss.parse().ok()? })
}

/// A contradiction of the printed cells with each other or with the printed settings, found by arithmetic.
///
/// `floor` is the share that cannot be carried at the stated rate `[%]`.
pub fn contradiction(printed: &Printed, floor: f64) -> Option<String> {
    if printed.loss >= 100.0 && printed.latency.is_some() {
        return Some("a latency is printed, and that every message was lost".into());
    }
    // Two decimals are printed.
    (printed.loss + 0.005 < floor).then(|| {
        format!(
            "{:.2} % lost is printed, and the data at their rate leave at least {floor:.2} % no room on the link: the publisher was held up and sent fewer",
            printed.loss
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_the_tables_is_there() {
        let cells = tables();
        assert_eq!(cells.len(), 9 * 3 * 3);
        assert_eq!(cells[0].latency, Some((41_609.0, 13_231.0)));
        let missing = cells.iter().filter(|cell| cell.latency.is_none()).count();
        assert!(cells.iter().filter(|cell| cell.loss >= 100.0).count() >= missing, "what is not available was lost");
    }

    #[test]
    fn a_cell_that_contradicts_itself_is_found() {
        let all = tables();
        let find = |configuration: &str, data: &str, network: &str| {
            *all.iter()
                .find(|cell| (cell.configuration, cell.data, cell.network) == (configuration, data, network))
                .expect("it is printed")
        };
        let lost = find("Fast-RTPS Best Effort Crypto", "laser", "gigabit-ethernet");
        assert!(contradiction(&lost, 0.0).expect("it is one").contains("every message was lost"));
        let reliable = find("Fast-RTPS Reliable", "cloud", "gigabit-ethernet");
        assert!(contradiction(&reliable, 23.05).expect("it is one").contains("23.05 %"));
        assert_eq!(contradiction(&find("ROS", "image", "wifi"), 76.44), None);
    }
}
