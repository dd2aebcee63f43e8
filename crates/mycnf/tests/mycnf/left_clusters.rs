//! What a move says of a node whose new version cannot join its cluster.

use crate::migrations::{line, moved};

/// In a cluster, other nodes have the commits that a node loses; a single server has them nowhere else.
#[test]
fn lazy_commits_of_a_cluster_s_node_are_to_decide_without_the_cluster() {
    let node = "[mysqld]\nwsrep_on=ON\nwsrep_provider=/usr/lib/galera/libgalera_smm.so\n\
                wsrep_cluster_address=gcomm://10.0.0.1,10.0.0.2\n";
    let of_commits = |text: &str, from: &str, to: &str| -> Vec<String> {
        let (_, mut open) = moved(text, from, to);
        open.retain(|it| it.starts_with("innodb_flush_log_at_trx_commit"));
        open
    };
    for (value, cause) in [(0, "a server crash or a power cut"), (2, "a power cut")] {
        let text = format!("{node}innodb_flush_log_at_trx_commit={value}\n");
        let expected = format!(
            "innodb_flush_log_at_trx_commit={value}: the other nodes of the Galera cluster kept the commits that a node \
             lost; alone, the server loses up to a second of commits in {cause}; to lose none, set it to 1"
        );
        assert_eq!(
            of_commits(&text, "mariadb-10.6", "mysql-8.0.33"),
            [expected.as_str()]
        );
        // The new file says so, too, and keeps the line.
        let (new, _) = moved(&text, "mariadb-10.6", "mysql-8.0.33");
        line(&new, "# to decide: the other nodes of the Galera cluster");
        line(&new, &format!("innodb_flush_log_at_trx_commit={value}"));
        // It stays a node, or was none.
        let none: [String; 0] = [];
        assert_eq!(of_commits(&text, "mariadb-10.6", "mariadb-11.4"), none);
        // Percona XtraDB Cluster, whose options of Galera stay in the file.
        assert_eq!(of_commits(&text, "percona-5.7", "percona-8.0"), none);
        let alone = text.replace("10.0.0.1,10.0.0.2", "");
        assert_eq!(of_commits(&alone, "mariadb-10.6", "mysql-8.0.33"), none);
    }
    let safe = format!("{node}innodb_flush_log_at_trx_commit=1\n");
    assert!(of_commits(&safe, "mariadb-10.6", "mysql-8.0.33").is_empty());
}
