//! What showing a second factor costs: beside its bare cryptography and one durable transaction, each by hand.
//!
//! One verify after the other over one connection, and beside each of them the same by hand, first the one and then the
//! other, so that a slow moment, and what one leaves to be done later, falls on both alike. A sign-in and a code count once,
//! so each verify is of another member: rounds wait for the next code.

use crate::{
    figure::{Figures, Sizes},
    identity::{PASSWORD, email, members_file},
    program::{Engine, Program, agent},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead,
    digest::{SHA256, digest},
    hmac,
    signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey},
};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use stoa_kernel::World;
use stoa_testkit::passkey::{Ceremony, Passkey};
use tokio_postgres::types::ToSql;

/// Members who verify once a round.
const MEMBERS: usize = 100;
/// Seconds for which a code is shown.
const STEP: i64 = 30;
/// Of the account pages: browsers have no passkeys at a number.
const ORIGIN: &str = "http://localhost";
/// How often a second a verify is done beside the limit: at most 1.3 times as long.
const LEAST: f64 = 1.0 / 1.3;

/// The figures, printed as they come.
pub fn measure(binary: &Path, engine: Engine, sizes: &Sizes) -> Vec<Value> {
    println!("\n{engine:?}, second factors, {MEMBERS} members");
    let mut figures = Figures::of(engine);
    // The limits of sign-ins are for strangers.
    let program = Program::start_with(binary, engine, |command| {
        let limits = ["ADDRESS_BURST", "SITE_SIGN_IN_BURST", "DEVICE_BURST", "ACCOUNT_BURST"];
        command.envs(limits.map(|it| (format!("STOA_IDENTITY_{it}"), "1000000"))).env("STOA_PUBLIC_URL", ORIGIN);
    });
    program.run(&["site", "second-factors", "optional"]);
    program.member_import(members_file(2 * MEMBERS).path());
    let mut transaction = Transaction::new(&program);
    totp(&program, sizes, &mut transaction, &mut figures);
    passkeys(&program, sizes, &mut transaction, &mut figures);
    figures.into_list()
}

/// Codes of authenticators, `POST /v2/TOTP/verify`.
fn totp(program: &Program, sizes: &Sizes, transaction: &mut Transaction, figures: &mut Figures) {
    let (agent, visitor) = (agent(), program.visitor_tokens(1).remove(0));
    let mut members: Vec<Authenticator> = (0..MEMBERS).map(|n| Authenticator::enrol(program, n)).collect();
    let mut rates = Vec::new();
    for _ in 0..sizes.rounds {
        let asked: Vec<Value> = (0..MEMBERS).map(|n| login(program, &visitor, n)["stateToken"].clone()).collect();
        let step = members.iter().map(|it| it.last + 1).fold(current_step(), i64::max);
        // A code of the step after this one counts as well.
        while current_step() + 1 < step {
            std::thread::sleep(Duration::from_millis(200));
        }
        let step = step.max(current_step());
        let mut times = Times::default();
        for (member, token) in members.iter_mut().zip(&asked) {
            let code = code_at(&key_of(&member.secret), step);
            member.last = step;
            let body = json!({ "stateToken": token, "totpData": { "code": code } });
            let by_us = || succeed(program, &agent, "/v2/TOTP/verify", &visitor, &body);
            times.take(by_us, || {
                member.verify_by_hand(token.as_str().unwrap(), &code, step);
                transaction.run(step, false);
            });
        }
        rates.push(times.rates());
    }
    figures.add("TOTP verify, HTTP", &rates, "its cryptography, one transaction", LEAST);
}

/// Passkeys, `POST /v2/WEBAUTHN/verify`: the last call of the sign-in, in which all that a passkey shows is checked.
fn passkeys(program: &Program, sizes: &Sizes, transaction: &mut Transaction, figures: &mut Figures) {
    let (agent, visitor) = (agent(), program.visitor_tokens(1).remove(0));
    let mut members: Vec<Holder> = (MEMBERS..2 * MEMBERS).map(|n| Holder::enrol(program, n)).collect();
    let mut rates = Vec::new();
    for _ in 0..sizes.rounds {
        let asked: Vec<Value> = (MEMBERS..2 * MEMBERS).map(|n| login(program, &visitor, n)).collect();
        let mut times = Times::default();
        for (member, asked) in members.iter_mut().zip(&asked) {
            let question = &asked["mfaChallengeData"]["verificationChallengeData"]["webauthnData"];
            let credential =
                member.passkey.get(&options(&question["publicKeyCredentialRequestOptionsJson"]), &honest());
            let shown = json!({ "challengeId": question["challengeId"], "credential": credential });
            let body = json!({ "stateToken": asked["stateToken"], "webauthnData": shown });
            let by_us = || succeed(program, &agent, "/v2/WEBAUTHN/verify", &visitor, &body);
            times.take(by_us, || {
                member.verify_by_hand(asked["stateToken"].as_str().unwrap(), &credential);
                transaction.run(i64::from(member.passkey.counter), true);
            });
        }
        rates.push(times.rates());
    }
    figures.add("passkey sign-in, HTTP", &rates, "its cryptography, one transaction", LEAST);
}

/// Seconds of calls of ours and of the same by hand.
#[derive(Default)]
struct Times {
    count: usize,
    ours: f64,
    theirs: f64,
}

impl Times {
    /// Takes turns at which of the two goes first.
    fn take(&mut self, by_us: impl FnOnce(), by_hand: impl FnOnce()) {
        if self.count.is_multiple_of(2) {
            self.ours += seconds(by_us);
            self.theirs += seconds(by_hand);
        } else {
            self.theirs += seconds(by_hand);
            self.ours += seconds(by_us);
        }
        self.count += 1;
    }

    fn rates(&self) -> (f64, f64) {
        (self.count as f64 / self.ours, self.count as f64 / self.theirs)
    }
}

fn seconds(run: impl FnOnce()) -> f64 {
    let began = Instant::now();
    run();
    began.elapsed().as_secs_f64()
}

fn succeed(program: &Program, agent: &ureq::Agent, path: &str, visitor: &str, body: &Value) {
    let answer = program.post_over(agent, path, visitor, body);
    assert!(answer.contains("SUCCESS"), "{answer}");
}

fn login(program: &Program, visitor: &str, n: usize) -> Value {
    program.post_as(visitor, "/v2/login", &json!({ "loginId": { "email": email(n) }, "password": PASSWORD }))
}

/// Has a member sign in and show the password; answers what calls their own things.
fn proven(program: &Program, n: usize) -> impl Fn(&str, Value) -> Value {
    let both = format!("{},{}", program.visitor_tokens(1)[0], program.key());
    let signed = login(program, &both, n);
    let grant =
        json!({ "grant_type": "authorized_client", "scope": "offline_access", "member_id": signed["identity"]["id"] });
    let tokens = serde_json::from_str::<Value>(&program.post_over(&agent(), "/oauth2/token", &both, &grant)).unwrap();
    let access = tokens["access_token"].as_str().unwrap().to_owned();
    let call = move |path: &str, body: Value| program.post_as(&access, &format!("/_api/identity/v1/{path}"), &body);
    call("proof", json!({ "password": PASSWORD }));
    call
}

fn honest() -> Ceremony {
    Ceremony::at(ORIGIN)
}

fn options(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap()
}

/// A member with a passkey.
struct Holder {
    passkey: Passkey,
    public_key: Vec<u8>,
}

impl Holder {
    fn enrol(program: &Program, n: usize) -> Self {
        let call = proven(program, n);
        let begun = call("factors", json!({ "type": "WEBAUTHN" }));
        let (passkey, credential) = Passkey::create(&begun["options"], &honest());
        let id = begun["factor"]["id"].as_str().unwrap();
        call(&format!("factors/{id}/confirm"), json!({ "credential": credential }));
        Self { public_key: passkey.public_key().to_vec(), passkey }
    }

    /// The token of the sign-in and the challenge are checked, what was signed is read and its signature too; then the token of
    /// the session is drawn and hashed.
    fn verify_by_hand(&self, token: &str, credential: &str) {
        let mac = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        std::hint::black_box(hmac::sign(&mac, token.as_bytes()));
        let credential: Value = serde_json::from_str(credential).unwrap();
        let read = |name: &str| URL_SAFE_NO_PAD.decode(credential["response"][name].as_str().unwrap()).unwrap();
        let client_data = read("clientDataJSON");
        let told: Value = serde_json::from_slice(&client_data).unwrap();
        std::hint::black_box(hmac::sign(&mac, told["challenge"].as_str().unwrap().as_bytes()));
        let signed = [read("authenticatorData").as_slice(), digest(&SHA256, &client_data).as_ref()].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.public_key);
        key.verify(&signed, &read("signature")).unwrap();
        std::hint::black_box(stoa_kernel::TokenHash::of(&World::real().token::<32>()));
    }
}

/// A member's authenticator.
struct Authenticator {
    secret: String,
    /// The step of the code that counted last.
    last: i64,
    /// The secret as it is at rest.
    sealed: Vec<u8>,
}

impl Authenticator {
    fn enrol(program: &Program, n: usize) -> Self {
        let call = proven(program, n);
        let begun = call("factors", json!({}));
        let (id, secret) = (begun["factor"]["id"].as_str().unwrap(), begun["secret"].as_str().unwrap().to_owned());
        let last = current_step();
        call(&format!("factors/{id}/confirm"), json!({ "code": code_at(&key_of(&secret), last) }));
        let mut sealed = secret.as_bytes().to_vec();
        let (key, nonce, about) = Self::seal();
        key.seal_in_place_append_tag(nonce, about, &mut sealed).unwrap();
        Self { secret, last, sealed }
    }

    fn seal() -> (aead::LessSafeKey, aead::Nonce, aead::Aad<[u8; 4]>) {
        let key = aead::UnboundKey::new(&aead::AES_256_GCM, &[7; 32]).unwrap();
        (aead::LessSafeKey::new(key), aead::Nonce::assume_unique_for_key([1; 12]), aead::Aad::from(*b"site"))
    }

    /// The token of the sign-in is checked, the secret opened, and the code compared with those of three steps; then the
    /// token of the session is drawn and hashed.
    fn verify_by_hand(&self, token: &str, code: &str, step: i64) {
        let mac = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        std::hint::black_box(hmac::sign(&mac, token.as_bytes()));
        let (key, nonce, about) = Self::seal();
        let mut opened = self.sealed.clone();
        let secret = key.open_in_place(nonce, about, &mut opened).unwrap();
        let key = key_of(std::str::from_utf8(secret).unwrap());
        assert!((step - 1..=step + 1).filter(|it| code_at(&key, *it) == code).count() >= 1);
        std::hint::black_box(stoa_kernel::TokenHash::of(&World::real().token::<32>()));
    }
}

/// The key of an authenticator, whose secret is shown in base32.
fn key_of(secret: &str) -> hmac::Key {
    let mut key = Vec::with_capacity(secret.len() * 5 / 8);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in secret.bytes() {
        let value = if letter.is_ascii_uppercase() { letter - b'A' } else { letter - b'2' + 26 };
        bits = bits << 5 | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            key.push((bits >> count & 0xff) as u8);
        }
    }
    hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key)
}

/// As authenticators make it (RFC 6238).
fn code_at(key: &hmac::Key, step: i64) -> String {
    let tag = hmac::sign(key, &step.to_be_bytes());
    let at = usize::from(tag.as_ref()[19] & 15);
    let number = u32::from_be_bytes(tag.as_ref()[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

fn current_step() -> i64 {
    World::real().now() / (1_000 * STEP)
}

/// One durable transaction of the raw engine that writes what a verify leaves: the step of the code or the counter of the
/// passkey, a session's token, a line of the audit log, and of a passkey the challenge that counts once. PostgreSQL is sent
/// the statements and the commit one behind the other, as the server does: only the beginning is waited for.
enum Transaction {
    Sqlite {
        conn: rusqlite::Connection,
        _directory: tempfile::TempDir,
    },
    Postgres {
        client: tokio_postgres::Client,
        statements: [tokio_postgres::Statement; 4],
        runtime: tokio::runtime::Runtime,
    },
}

const TABLES: &str = "create table bench_factor (id text primary key, step bigint not null);
    create table bench_token (hash text primary key, member text not null, expires bigint not null);
    create table bench_challenge (hash text primary key, expires bigint not null);
    create table bench_audit (id text primary key, member text not null, event text not null, created bigint not null);
    create index bench_audit_member on bench_audit (member, created);
    insert into bench_factor values ('f', 0)";
const WRITES: [&str; 4] = [
    "update bench_factor set step = $1 where id = 'f' and step <= $1",
    "insert into bench_token (hash, member, expires) values ($1, 'm', 1)",
    "insert into bench_audit (id, member, event, created) values ($1, 'm', 'member_sign_in', 1)",
    "insert into bench_challenge (hash, expires) values ($1, 1)",
];

impl Transaction {
    fn new(program: &Program) -> Self {
        let Some(url) = program.database_url() else {
            let directory = tempfile::tempdir().unwrap();
            let conn = rusqlite::Connection::open(directory.path().join("raw.db")).unwrap();
            conn.execute_batch("pragma journal_mode = wal; pragma synchronous = full").unwrap();
            conn.execute_batch(TABLES).unwrap();
            return Self::Sqlite { conn, _directory: directory };
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (client, statements) = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(TABLES).await.unwrap();
            let [step, token, audit, challenge] = WRITES;
            let prepare = async |sql: &str| client.prepare(sql).await.unwrap();
            let statements =
                [prepare(step).await, prepare(token).await, prepare(audit).await, prepare(challenge).await];
            (client, statements)
        });
        Self::Postgres { client, statements, runtime }
    }

    fn run(&mut self, step: i64, is_passkey: bool) {
        let [token, audit, challenge] = [(); 3].map(|()| World::real().token::<32>());
        match self {
            Self::Sqlite { conn, .. } => {
                let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
                tx.prepare_cached(WRITES[0]).unwrap().execute([step]).unwrap();
                tx.prepare_cached(WRITES[1]).unwrap().execute([&token]).unwrap();
                tx.prepare_cached(WRITES[2]).unwrap().execute([&audit]).unwrap();
                if is_passkey {
                    tx.prepare_cached(WRITES[3]).unwrap().execute([&challenge]).unwrap();
                }
                tx.commit().unwrap();
            }
            Self::Postgres { client, statements: [of_step, of_token, of_audit, of_challenge], runtime } => {
                runtime.block_on(async {
                    client.batch_execute("begin isolation level serializable").await.unwrap();
                    let values: [[&(dyn ToSql + Sync); 1]; 4] = [[&step], [&token], [&audit], [&challenge]];
                    let of_passkey =
                        async { if is_passkey { client.execute(&*of_challenge, &values[3]).await } else { Ok(0) } };
                    let sent = tokio::try_join!(
                        biased;
                        client.execute(&*of_step, &values[0]),
                        client.execute(&*of_token, &values[1]),
                        client.execute(&*of_audit, &values[2]),
                        of_passkey,
                        client.batch_execute("commit"),
                    );
                    sent.unwrap();
                });
            }
        }
    }
}
