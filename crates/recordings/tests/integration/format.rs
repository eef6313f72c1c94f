use chronoseal_recordings::{Format, Problem, ReadError, read};

/// Tables whose first letters are those of a recording.
#[test]
fn a_table_that_begins_like_a_recording_is_none() {
    for text in [
        "LOGGER,from,to\nspeed,a,b\n",
        "LOGG;from;to\n",
        "MDF channel,from,to\n",
        "MDF     ,from,to\n",
        "UnFinMF,from\n",
        "date,name,from,to\n2024-01-01,speed,a,b\n",
        "date name from to\n",
        "base name from to\n",
        "; exported by hand\nname;from;to\nspeed;a;b\n",
        "",
        "L",
    ] {
        assert_eq!(Format::detect(text.as_bytes()), None, "{text}");
        assert!(
            matches!(read(text.as_bytes()), Err(ReadError { problem: Problem::UnknownFormat { .. }, .. })),
            "{text}"
        );
    }
}

#[test]
fn each_format_is_known_by_what_is_in_it() {
    let blf = [&b"LOGG"[..], &144u32.to_le_bytes(), &[0; 136]].concat();
    for (bytes, format) in [
        (&blf[..], Format::Blf),
        (b"MDF     4.11    ", Format::Mf4),
        (b"UnFinMF 4.11    ", Format::Mf4),
        (b"date Sam Sep 30 15:06:13.191 2017\nbase hex  timestamps absolute\n", Format::Asc),
        (b"// exported\nbase dec timestamps relative\n", Format::Asc),
        (b";$FILEVERSION=2.1\n", Format::Trc),
        (
            b";##########\n;   Start time: 05.08.2003\n     1)      1841  0001  8  00 00 00 00 00 00 00 00\n",
            Format::Trc,
        ),
        (b"***BUSMASTER Ver 2.4.0***\n", Format::Busmaster),
        (b"(1398128223.803317) can0 166#D0320009\n", Format::CandumpLog),
        (b"SQLite format 3\0\x10\0", Format::Sqlite),
        (&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0], Format::Pcap),
        (&[0x0a, 0x0d, 0x0d, 0x0a], Format::Pcapng),
    ] {
        assert_eq!(Format::detect(bytes), Some(format));
    }
}
