//! Finding the addresses of a name: our own questions to the machine's name servers, so that each call knows every
//! address that it could be led to, and no cache between the check and the connection gives another.
//!
//! Reading what a server answers is `hickory-proto`'s. A forged answer gains nothing: the addresses are checked
//! whatever sent them, and TLS checks the host.

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query, ResponseCode},
    rr::{DNSClass, Name, RData, RecordType},
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};
use stoa_kernel::World;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

/// Where the machine says which name servers it asks. Neither its search domains nor `/etc/hosts` count: a call goes
/// to a name of the internet.
const MACHINE: &str = "/etc/resolv.conf";
/// Name servers that are asked, as many as the machine's own resolver takes.
const SERVERS: usize = 3;
const PORT: u16 = 53;
/// How often all of them are asked before there is no answer.
const ROUNDS: usize = 2;
/// What `localhost` is, without asking anyone.
pub(super) const HERE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// Names that lead on to others (CNAME) before an address.
const CHAIN: usize = 16;
/// Addresses that a name may have.
const MOST: usize = 64;
/// Bytes of an answer in one datagram. We offer no more than 512 (RFC 1035); some send more.
const DATAGRAM: usize = 4096;
const LATE: &str = "no name server answered in time";
/// Bytes of what stands before the question.
const HEAD: usize = 12;

pub(super) struct Resolver {
    world: World,
    /// Those of the configuration, instead of the machine's.
    servers: Vec<SocketAddr>,
    times: Times,
}

/// How long a question may take.
pub(super) struct Times {
    /// For all servers together.
    pub(super) all: Duration,
    /// For one of them, before the next one is asked.
    pub(super) one: Duration,
}

/// What a name server sent.
enum Received {
    Answer(Box<Message>),
    /// It has more than fits here.
    Truncated,
    /// Nothing that answers the question.
    Other,
}

impl Resolver {
    pub(super) fn new(world: World, servers: Vec<SocketAddr>, times: Times) -> Self {
        Self { world, servers, times }
    }

    /// Every address of a name, asked for anew. `localhost` and names below it are this machine (RFC 6761).
    ///
    /// # Errors
    /// A sentence, when there is none or no server says so.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        if is_localhost(name) {
            return Ok(HERE.to_vec());
        }
        let name = Name::from_ascii(format!("{name}.")).map_err(|_| "it is no name of the internet".to_owned())?;
        let servers = self.servers().await;
        let (v4, v6) = tokio::join!(
            self.ask(&servers, Query::query(name.clone(), RecordType::A)),
            self.ask(&servers, Query::query(name, RecordType::AAAA)),
        );
        let found = match (v4, v6) {
            (Ok(v4), Ok(v6)) => [v4, v6].concat(),
            // Some servers fail at one of the kinds; what isn't known isn't connected to.
            (Ok(some), Err(_)) | (Err(_), Ok(some)) if !some.is_empty() => some,
            (Err(why), _) | (_, Err(why)) => return Err(why),
        };
        match found.len() {
            0 => Err("it has no address".to_owned()),
            1..=MOST => Ok(found),
            more => Err(format!("it has {more} addresses, more than {MOST}")),
        }
    }

    async fn servers(&self) -> Vec<SocketAddr> {
        if !self.servers.is_empty() {
            return self.servers.clone();
        }
        name_servers(&tokio::fs::read_to_string(MACHINE).await.unwrap_or_default())
    }

    /// What the servers say of one kind of record. Each kind has its time for itself: where one is never answered, the
    /// other one serves.
    async fn ask(&self, servers: &[SocketAddr], query: Query) -> Result<Vec<IpAddr>, String> {
        let asking = timeout(self.times.all, self.ask_in_turn(servers, &query));
        asking.await.unwrap_or_else(|_| Err(LATE.to_owned()))
    }

    async fn ask_in_turn(&self, servers: &[SocketAddr], query: &Query) -> Result<Vec<IpAddr>, String> {
        let mut why = LATE.to_owned();
        for server in (0..ROUNDS).flat_map(|_| servers) {
            match timeout(self.times.one, self.exchange(*server, query)).await {
                Ok(Ok(answer)) => match answer.metadata.response_code {
                    ResponseCode::NoError | ResponseCode::NXDomain => return Ok(follow(&answer, query.name())),
                    code => why = format!("the name server {server} answered {code}"),
                },
                Ok(Err(error)) => why = format!("the name server {server}: {error}"),
                Err(_) => {}
            }
        }
        Err(why)
    }

    /// One question to one server, by UDP, and by TCP if the answer has no room there.
    async fn exchange(&self, server: SocketAddr, query: &Query) -> io::Result<Message> {
        let id = u16::from_be_bytes(self.world.bytes());
        let mut question = Message::new(id, MessageType::Query, OpCode::Query);
        question.metadata.recursion_desired = true;
        question.add_query(query.clone());
        let question = question.to_vec().map_err(io::Error::other)?;
        match by_udp(server, &question, id, query).await? {
            Some(answer) => Ok(answer),
            None => by_tcp(server, &question, id, query).await,
        }
    }
}

/// The answer, or nothing when it has no room. What answers something else is passed over, so that one who guesses
/// port and id has to guess them before the server answers.
async fn by_udp(server: SocketAddr, question: &[u8], id: u16, query: &Query) -> io::Result<Option<Message>> {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut buffer = vec![0; DATAGRAM];
    loop {
        let length = socket.recv(&mut buffer).await?;
        match read(&buffer[..length], id, query) {
            Received::Answer(answer) => return Ok(Some(*answer)),
            Received::Truncated => return Ok(None),
            Received::Other => {}
        }
    }
}

async fn by_tcp(server: SocketAddr, question: &[u8], id: u16, query: &Query) -> io::Result<Message> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], question].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    match read(&answer, id, query) {
        Received::Answer(answer) => Ok(*answer),
        Received::Truncated | Received::Other => Err(io::Error::other("an answer to something else")),
    }
}

fn read(bytes: &[u8], id: u16, query: &Query) -> Received {
    // The head is looked at first: what isn't meant for us costs no more than that.
    if bytes.len() < HEAD || bytes[..2] != id.to_be_bytes() || bytes[2] & 0x80 == 0 {
        return Received::Other;
    }
    if bytes[2] & 0x02 != 0 {
        return Received::Truncated;
    }
    if bytes[4..6] != [0, 1] {
        return Received::Other;
    }
    match Message::from_vec(bytes) {
        Ok(it) if it.metadata.op_code == OpCode::Query && it.queries.first() == Some(query) => {
            Received::Answer(Box::new(it))
        }
        _ => Received::Other,
    }
}

/// The addresses of a name in an answer, wherever it leads on to. Records of other names don't count.
fn follow(answer: &Message, name: &Name) -> Vec<IpAddr> {
    let mut name = name;
    for _ in 0..CHAIN {
        let addresses: Vec<IpAddr> = records(answer, name).filter_map(address).collect();
        if !addresses.is_empty() {
            return addresses;
        }
        let next = records(answer, name).find_map(|it| match it {
            RData::CNAME(to) => Some(&to.0),
            _ => None,
        });
        let Some(next) = next else { break };
        name = next;
    }
    Vec::new()
}

fn records<'a>(answer: &'a Message, name: &'a Name) -> impl Iterator<Item = &'a RData> {
    let of_name = answer.answers.iter().filter(move |it| it.dns_class == DNSClass::IN && it.name == *name);
    of_name.map(|it| &it.data)
}

fn address(record: &RData) -> Option<IpAddr> {
    match record {
        RData::A(it) => Some(IpAddr::V4(it.0)),
        RData::AAAA(it) => Some(IpAddr::V6(it.0)),
        _ => None,
    }
}

/// The servers that resolv.conf(5) names; without any the machine's own.
fn name_servers(text: &str) -> Vec<SocketAddr> {
    let server = |line: &str| {
        let mut words = line.split_whitespace();
        let address: IpAddr = words.next().filter(|it| *it == "nameserver").and(words.next())?.parse().ok()?;
        Some(SocketAddr::new(address, PORT))
    };
    let found: Vec<SocketAddr> = text.lines().filter_map(server).take(SERVERS).collect();
    if found.is_empty() { vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT)] } else { found }
}

pub(super) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_machine_are_read() {
        let read = |text: &str| name_servers(text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            read("# nameserver 192.0.2.9\nsearch example.org\nnameserver 192.0.2.1 # first\n"),
            ["192.0.2.1:53"]
        );
        assert_eq!(read("nameserver\t2001:db8::1\nnameserver nowhere\noptions ndots:5"), ["[2001:db8::1]:53"]);
        assert_eq!(read("nameserver 1.1.1.1\n".repeat(5).as_str()).len(), SERVERS);
        for none in ["", "nameserver", "nameservers 192.0.2.1"] {
            assert_eq!(read(none), ["127.0.0.1:53"], "{none}");
        }
    }
}
