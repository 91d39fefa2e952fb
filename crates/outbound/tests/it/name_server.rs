//! A name server whose answers a test decides, each time it is asked; by UDP and TCP at the same port.

use hickory_proto::{
    op::{Message, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata::CNAME},
};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};

pub struct NameServer {
    pub address: SocketAddr,
    asked: Asked,
}

type Asked = Arc<Mutex<Vec<(String, RecordType)>>>;
type Answers = Arc<dyn Fn(&Question) -> Vec<Vec<u8>> + Send + Sync>;

/// What it was asked.
pub struct Question {
    message: Message,
    /// Without the dot at its end.
    pub name: String,
    pub kind: RecordType,
    /// How often the same was asked before.
    pub nth: usize,
    pub by_tcp: bool,
}

impl NameServer {
    /// One that sends what `answers` makes of each question: by UDP every datagram, by TCP the first.
    pub async fn start(answers: impl Fn(&Question) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        let answers: Answers = Arc::new(answers);
        let (tcp, udp) = same_port().await;
        let (address, asked) = (tcp.local_addr().unwrap(), Asked::default());
        tokio::spawn(serve_udp(udp, answers.clone(), asked.clone()));
        tokio::spawn(serve_tcp(tcp, answers, asked.clone()));
        Self { address, asked }
    }

    /// One that has these addresses for every name.
    pub async fn of(addresses: &[&str]) -> Self {
        let addresses: Vec<String> = addresses.iter().map(|it| (*it).to_owned()).collect();
        let addresses =
            move |it: &Question| vec![it.addresses(&addresses.iter().map(String::as_str).collect::<Vec<_>>())];
        Self::start(addresses).await
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<(String, RecordType)> {
        self.asked.lock().unwrap().clone()
    }
}

/// UDP has ports of its own, so the same number may be taken there.
async fn same_port() -> (TcpListener, UdpSocket) {
    loop {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            return (tcp, udp);
        }
    }
}

async fn serve_udp(socket: UdpSocket, answers: Answers, asked: Asked) {
    let mut buffer = vec![0; 4096];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        let question = Question::read(&buffer[..length], false, &asked);
        for datagram in answers(&question) {
            socket.send_to(&datagram, from).await.unwrap();
        }
    }
}

async fn serve_tcp(listener: TcpListener, answers: Answers, asked: Asked) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer_tcp(stream, answers.clone(), asked.clone()));
    }
}

async fn answer_tcp(mut stream: TcpStream, answers: Answers, asked: Asked) {
    let mut bytes = vec![0; usize::from(stream.read_u16().await.unwrap())];
    stream.read_exact(&mut bytes).await.unwrap();
    let question = Question::read(&bytes, true, &asked);
    if let Some(answer) = answers(&question).first() {
        stream.write_u16(u16::try_from(answer.len()).unwrap()).await.unwrap();
        // The other side may have read enough.
        let _ = stream.write_all(answer).await;
    }
}

impl Question {
    fn read(bytes: &[u8], by_tcp: bool, asked: &Asked) -> Self {
        let message = Message::from_vec(bytes).unwrap();
        let query = &message.queries[0];
        let name = query.name().to_ascii().trim_end_matches('.').to_owned();
        let (kind, mut asked) = (query.query_type(), asked.lock().unwrap());
        let nth = asked.iter().filter(|it| **it == (name.clone(), kind)).count();
        asked.push((name.clone(), kind));
        drop(asked);
        Self { message, name, kind, nth, by_tcp }
    }

    /// An answer that can still be changed.
    pub fn answer(&self) -> Message {
        let mut answer = self.message.clone().into_response();
        answer.metadata.recursion_available = true;
        answer
    }

    /// Those of the addresses that are of the kind that was asked for.
    pub fn addresses(&self, addresses: &[&str]) -> Vec<u8> {
        self.records(addresses.iter().filter_map(|it| self.record(&self.name, it)))
    }

    pub fn records(&self, records: impl IntoIterator<Item = Record>) -> Vec<u8> {
        let mut answer = self.answer();
        answer.add_answers(records);
        answer.to_vec().unwrap()
    }

    /// An address of a name, if it is of the kind that was asked for.
    pub fn record(&self, name: &str, address: &str) -> Option<Record> {
        let data = match (address.parse().unwrap(), self.kind) {
            (std::net::IpAddr::V4(it), RecordType::A) => RData::from(it),
            (std::net::IpAddr::V6(it), RecordType::AAAA) => RData::from(it),
            _ => return None,
        };
        Some(Record::from_rdata(owner(name), 3600, data))
    }

    pub fn code(&self, code: ResponseCode) -> Vec<u8> {
        let mut answer = self.answer();
        answer.metadata.response_code = code;
        answer.to_vec().unwrap()
    }

    /// An answer that has no room in a datagram.
    pub fn truncated(&self) -> Vec<u8> {
        let mut answer = self.answer();
        answer.metadata.truncation = true;
        answer.to_vec().unwrap()
    }
}

/// That a name is another's.
pub fn alias(name: &str, of: &str) -> Record {
    Record::from_rdata(owner(name), 3600, RData::CNAME(CNAME(owner(of))))
}

fn owner(name: &str) -> Name {
    Name::from_ascii(format!("{name}.")).unwrap()
}
