//! Messages to browsers whose push services are slow.

use super::peer::{Manner, Peer};
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Secret, World};
use stoa_outbound::{Exceptions, PushMessage, Reach, ReachConfig, Target, WebPush};

fn message(peer: &Peer) -> PushMessage {
    PushMessage {
        target: Target::parse(&format!("http://{}/push", peer.address)).unwrap(),
        authorization: Secret::new("vapid t=a, k=b".to_owned()),
        body: vec![0; 100],
        topic: "question",
    }
}

#[tokio::test]
async fn slow_push_service_of_one_member_keeps_no_question_from_others_of_the_site() {
    let exceptions = Exceptions { loopback: true, ..Exceptions::default() };
    let reach = Reach::new(&ReachConfig { exceptions, ..ReachConfig::default() }, World::real()).unwrap();
    let push = Arc::new(WebPush::new(reach));
    let slow = Peer::start("127.0.0.2", Manner::NeverAnswers).await;
    let taken = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n".to_vec();
    let quick = Peer::start("127.0.0.3", Manner::Says(taken)).await;
    for _ in 0..100 {
        let (push, message) = (push.clone(), message(&slow));
        tokio::spawn(async move { push.ask("site", message).await });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let sent = tokio::time::timeout(Duration::from_secs(2), push.ask("site", message(&quick))).await;
    assert_eq!(sent, Ok(Ok(())));
}
