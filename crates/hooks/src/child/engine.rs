//! The engine that runs a site's code: one module, called by name, within time and memory. What it doesn't stop by itself,
//! the loops of its own native functions, is stopped by the server, which ends the process.

use crate::{hook::Hook, message::Settings};
use rquickjs::{Context, Ctx, Function, Module, Object, Persistent, Runtime, Value, module::Evaluated};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use stoa_kernel::{Millis, World, clock::elapsing};

const QUERY: &str = include_str!("prelude/query.js");
const RUN: &str = include_str!("prelude/run.js");
/// Bytes of the engine's own stack. A thread has at least four times as many.
const STACK: usize = 524_288;
/// Bytes of what tells an answer, beside it.
const BESIDE_ANSWER: usize = 64;
const TIMED_OUT: &str = r#""timedOut""#;
const OUT_OF_MEMORY: &str = r#""outOfMemory""#;

pub struct Engine {
    // The functions go before the runtime that they live in.
    prelude: Option<Prelude>,
    context: Context,
    runtime: Runtime,
    clock: Rc<Clock>,
    heard: Rc<Heard>,
    settings: Settings,
}

#[derive(Clone)]
struct Prelude {
    load: Persistent<Function<'static>>,
    begin: Persistent<Function<'static>>,
    tests: Persistent<Function<'static>>,
    run: Persistent<Function<'static>>,
    tell: Persistent<Function<'static>>,
}

/// Until when code may run.
#[derive(Default)]
struct Clock {
    until: Cell<Millis>,
    is_over: Cell<bool>,
}

impl Clock {
    fn start(&self, milliseconds: u64) {
        self.until.set(elapsing().saturating_add(Millis::try_from(milliseconds).unwrap_or(Millis::MAX)));
        self.is_over.set(false);
    }

    fn is_over(&self) -> bool {
        if !self.is_over.get() {
            self.is_over.set(elapsing() >= self.until.get());
        }
        self.is_over.get()
    }
}

/// What code said.
#[derive(Default)]
struct Heard {
    /// How the call ended: JSON of [`crate::message::Told`].
    told: RefCell<Option<String>>,
    console: RefCell<String>,
}

/// How a call ended, and whether the engine is still what it was before.
pub struct Ended {
    pub told: String,
    pub console: String,
    /// Code was stopped where it stood: its variables may be half made.
    pub is_spent: bool,
}

impl Engine {
    pub fn start(world: &World, settings: Settings) -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(settings.memory);
        runtime.set_max_stack_size(STACK);
        let clock = Rc::new(Clock::default());
        let asked = Rc::clone(&clock);
        clock.start(u64::MAX);
        runtime.set_interrupt_handler(Some(Box::new(move || asked.is_over())));
        let context = Context::full(&runtime)?;
        let heard = Rc::new(Heard::default());
        let prelude = context.with(|ctx| prepare(&ctx, world, &heard, settings))?;
        Ok(Self { prelude: Some(prelude), context, runtime, clock, heard, settings })
    }

    /// Evaluates a module and tells what it exports, as JSON; or how that failed, which is a [`crate::message::Told`]. With
    /// tests, another module that may import it, tells what they are called.
    pub fn load(&self, source: &str, tests: Option<&str>, milliseconds: u64) -> Result<String, String> {
        self.clock.start(milliseconds);
        let loaded = self.context.with(|ctx| match tests {
            None => self.evaluate(&ctx, source),
            Some(tests) => self.evaluate_tests(&ctx, source, tests),
        });
        match loaded {
            _ if self.clock.is_over.get() => Err(TIMED_OUT.to_owned()),
            Ok(Some(exports)) => Ok(exports),
            Ok(None) => Err(TIMED_OUT.to_owned()),
            Err(told) => Err(told),
        }
    }

    /// Nothing where the module waits for what can't happen.
    fn evaluate(&self, ctx: &Ctx<'_>, source: &str) -> Result<Option<String>, String> {
        let Some(module) = self.evaluated(ctx, "data.js", source)? else { return Ok(None) };
        let told = module.namespace().and_then(|it| self.function(ctx, |it| &it.load)?.call::<_, String>((it,)));
        told.map(Some).map_err(|error| self.failure(ctx, &error))
    }

    fn evaluate_tests(&self, ctx: &Ctx<'_>, source: &str, tests: &str) -> Result<Option<String>, String> {
        if self.evaluated(ctx, "data.js", source)?.is_none() {
            return Ok(None);
        }
        let begun = self.function(ctx, |it| &it.begin).and_then(|it| it.call::<_, Value<'_>>(()));
        begun.map_err(|error| self.failure(ctx, &error))?;
        if self.evaluated(ctx, "data.test.js", tests)?.is_none() {
            return Ok(None);
        }
        let told = self.function(ctx, |it| &it.tests).and_then(|it| it.call::<_, String>(()));
        told.map(Some).map_err(|error| self.failure(ctx, &error))
    }

    fn evaluated<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        source: &str,
    ) -> Result<Option<Module<'js, Evaluated>>, String> {
        let evaluated = Module::declare(ctx.clone(), name, source).and_then(Module::eval);
        let (module, promise) = evaluated.map_err(|error| self.failure(ctx, &error))?;
        self.drive(ctx, || promise.result::<Value<'_>>().is_some());
        match promise.result::<Value<'_>>() {
            None => Ok(None),
            Some(Err(error)) => Err(self.failure(ctx, &error)),
            Some(Ok(_)) => Ok(Some(module)),
        }
    }

    /// Calls an exported function. The context comes with the item that it has as a member, where there is one.
    pub fn run(
        &self,
        export: &str,
        hook: Hook,
        argument: &str,
        (context, current): (&str, Option<&str>),
        milliseconds: u64,
    ) -> Ended {
        self.heard.told.take();
        self.clock.start(milliseconds);
        let told = self.context.with(|ctx| {
            let done = self.function(&ctx, |it| &it.tell);
            let called = done.and_then(|done| {
                let run = self.function(&ctx, |it| &it.run)?;
                run.call::<_, Option<String>>((export, hook.name(), argument, context, current, done))
            });
            match called {
                Ok(None) => {
                    self.drive(&ctx, || self.heard.told.borrow().is_some());
                    None
                }
                Ok(told) => told,
                Err(error) => Some(self.failure(&ctx, &error)),
            }
        });
        self.ended(told)
    }

    /// What waits for nothing that is still to come never ends, and is told to take too long at once.
    fn ended(&self, told: Option<String>) -> Ended {
        let is_over = self.clock.is_over.get();
        let told = told.or_else(|| self.heard.told.take()).filter(|_| !is_over).unwrap_or_else(|| TIMED_OUT.to_owned());
        // The server takes both for stopped code, after which nothing is loaded.
        let is_spent = is_over || told == TIMED_OUT || told == OUT_OF_MEMORY;
        let told = if told.len() > self.settings.answer + BESIDE_ANSWER { r#""tooLarge""#.to_owned() } else { told };
        Ended { told, console: self.heard.console.take(), is_spent }
    }

    /// Runs what waits for its turn, until something holds, nothing waits, or time is over.
    fn drive(&self, ctx: &Ctx<'_>, holds: impl Fn() -> bool) {
        while !holds() && !self.clock.is_over() && ctx.execute_pending_job() {}
    }

    fn function<'js>(
        &self,
        ctx: &Ctx<'js>,
        which: impl Fn(&Prelude) -> &Persistent<Function<'static>>,
    ) -> rquickjs::Result<Function<'js>> {
        match &self.prelude {
            Some(prelude) => which(prelude).clone().restore(ctx),
            None => Err(rquickjs::Error::Unknown),
        }
    }

    /// What an error of the engine is to who asked.
    fn failure(&self, ctx: &Ctx<'_>, error: &rquickjs::Error) -> String {
        if !error.is_exception() {
            return told_error("InternalError", &error.to_string());
        }
        let thrown = ctx.catch();
        let Some(exception) = thrown.as_exception() else {
            return match thrown.is_null() {
                true => OUT_OF_MEMORY.to_owned(),
                false => told_error("Error", "What was thrown is no Error"),
            };
        };
        let message = exception.message().unwrap_or_default();
        if message == "out of memory" {
            return OUT_OF_MEMORY.to_owned();
        }
        let name = exception.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
        let place = exception.stack().and_then(|it| place_of(&it)).map(|it| format!(" ({it})")).unwrap_or_default();
        told_error(&name, &format!("{message}{place}"))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Functions that outlive their runtime would end the process.
        self.prelude = None;
        self.runtime.set_interrupt_handler(None);
    }
}

fn told_error(name: &str, message: &str) -> String {
    serde_json::json!({ "error": { "name": name, "message": message } }).to_string()
}

/// Where in the source: `data.js:3:5`.
fn place_of(stack: &str) -> Option<String> {
    let at = ["data.js:", "data.test.js:"].iter().filter_map(|it| stack.find(it)).min()?;
    let place = stack[at..].split([')', '\n', ' ']).next()?;
    Some(place.to_owned())
}

/// Makes the world that code finds.
fn prepare(ctx: &Ctx<'_>, world: &World, heard: &Rc<Heard>, settings: Settings) -> rquickjs::Result<Prelude> {
    let (native, console) = (Object::new(ctx.clone())?, settings.console);
    native.set("most", settings.answer + BESIDE_ANSWER)?;
    let (world, printed) = (world.clone(), Rc::clone(heard));
    native.set("uuid", Function::new(ctx.clone(), move || random_uuid(&world))?)?;
    native.set("print", Function::new(ctx.clone(), move |text: String| print(&printed.console, &text, console))?)?;
    let builders: Object<'_> = ctx.eval::<Function<'_>, _>(QUERY)?.call(())?;
    let made: Object<'_> = ctx.eval::<Function<'_>, _>(RUN)?.call((native, builders))?;
    let told = Rc::clone(heard);
    let tell = Function::new(ctx.clone(), move |text: String| {
        told.told.borrow_mut().get_or_insert(text);
    })?;
    Ok(Prelude {
        load: Persistent::save(ctx, made.get::<_, Function<'_>>("load")?),
        begin: Persistent::save(ctx, made.get::<_, Function<'_>>("begin")?),
        tests: Persistent::save(ctx, made.get::<_, Function<'_>>("tests")?),
        run: Persistent::save(ctx, made.get::<_, Function<'_>>("run")?),
        tell: Persistent::save(ctx, tell),
    })
}

/// A UUID of version 4, as `crypto.randomUUID` answers.
fn random_uuid(world: &World) -> String {
    uuid::Builder::from_random_bytes(world.bytes::<16>()).into_uuid().to_string()
}

/// A line of the console, as far as there is room.
fn print(console: &RefCell<String>, text: &str, most: usize) {
    let mut console = console.borrow_mut();
    for part in [text, "\n"] {
        let room = most.saturating_sub(console.len()).min(part.len());
        let end = (0..=room).rev().find(|it| part.is_char_boundary(*it)).unwrap_or_default();
        console.push_str(&part[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(source: &str) -> Engine {
        let settings = Settings { memory: 16 << 20, answer: 4_096, console: 20 };
        let engine = Engine::start(&World::real(), settings).expect("an engine");
        engine.load(source, None, 1_000).expect(source);
        engine
    }

    fn run(body: &str, hook: Hook, argument: &str) -> String {
        run_within(200, body, hook, argument)
    }

    fn run_within(milliseconds: u64, body: &str, hook: Hook, argument: &str) -> String {
        let source = format!("export function c_h(it, context) {{ {body} }}");
        engine(&source).run("c_h", hook, argument, (r#"{"userRole":"owner"}"#, None), milliseconds).told
    }

    fn item(body: &str, argument: &str) -> String {
        run(body, Hook::BeforeInsert, argument)
    }

    #[test]
    fn argument_and_answer_have_dates() {
        let dated = r#"{"d":{"$date":"2024-03-05T06:07:08.009Z"},"a":[{"$date":"no"}],"__proto__":{"x":1}}"#;
        let told = item("it.year = it.d.getUTCFullYear(); it.role = context.userRole; return it", dated);
        assert_eq!(told, format!(r#"{{"value":{},"year":2024,"role":"owner"}}}}"#, &dated[..dated.len() - 1]));
        assert_eq!(item("it.d = new Date(NaN); it.n = NaN; return it", "{}"), r#"{"value":{"d":{},"n":null}}"#);
        assert_eq!(item("return {polluted: ({}).x === undefined}", dated), r#"{"value":{"polluted":true}}"#);
    }

    #[test]
    fn date_is_wrapped_wherever_it_is() {
        let date = r#"{"$date":"1970-01-01T00:00:00.000Z"}"#;
        let told = |body: &str| {
            let told = item(body, "{}");
            assert!(!told.contains("0Z\"") || told.contains(date), "{body}: {told}");
            told.contains(date)
        };
        for body in [
            "return {d: new Date(0)}",
            "return {a: [1, null, {d: [new Date(0)]}]}",
            "return {a: {toJSON: () => ({d: new Date(0)})}}",
            "const f = () => 1; f.toJSON = () => [new Date(0)]; return {f}",
            "let a = {d: new Date(0)}; for (let n = 0; n < 50; n++) a = {a}; return a",
            "return {a: Array(500).fill(1).concat([new Date(0)])}",
        ] {
            assert!(told(body), "{body}");
        }
        assert!(!told("return {d: '1970', t: null, u: undefined, f: () => 1, a: [[], {}]}"));
        let large = "const a = Array(1500).fill(1); a.push(new Date(0)); return {a}";
        let source = format!("export function c_h() {{ {large} }}");
        assert!(engine(&source).run("c_h", Hook::AfterGet, "{}", ("{}", None), 200).told.contains(date));
        let item_of_context = "export function c_h(it, context) { return context.currentItem }";
        let told = engine(item_of_context).run("c_h", Hook::AfterGet, "{}", ("{}", Some(r#"{"a":1}"#)), 200).told;
        assert_eq!(told, r#"{"value":{"a":1}}"#);
    }

    #[test]
    fn value_of_another_kind_is_nothing() {
        for body in ["", "return 5", "return null", "return [it]", "return new Date()", "return 'x'", "return () => 1"]
        {
            assert_eq!(item(body, "{}"), r#""nothing""#, "{body}");
        }
        assert_eq!(run("return 5", Hook::BeforeRemove, r#""id""#), r#""nothing""#);
        assert_eq!(run("return it + 1", Hook::BeforeGet, r#""id""#), r#"{"value":"id1"}"#);
        assert_eq!(run("return it + 1", Hook::AfterCount, "4"), r#"{"value":5}"#);
        assert_eq!(run("return NaN", Hook::AfterCount, "4"), r#""nothing""#);
        assert_eq!(run("return null", Hook::OnFailure, r#"{"message":"m"}"#), r#"{"value":null}"#);
    }

    #[test]
    fn what_is_thrown_is_told() {
        let error = r#"{"error":{"name":"TypeError","message":"m","code":"C"}}"#;
        assert_eq!(item("const e = new TypeError('m'); e.code = 'C'; throw e", "{}"), error);
        assert_eq!(item("throw {a: new Date(0)}", "{}"), r#"{"thrown":{"a":{"$date":"1970-01-01T00:00:00.000Z"}}}"#);
        assert_eq!(item("return Promise.reject('x')", "{}"), r#"{"thrown":"x"}"#);
        assert_eq!(
            item("return (async () => { await 0; throw new Error('later') })()", "{}"),
            r#"{"error":{"name":"Error","message":"later"}}"#
        );
        assert_eq!(item("throw undefined", "{}"), r#"{"thrown":null}"#);
        assert_eq!(
            item("throw new Error('\\ud800')", "{}"),
            "{\"error\":{\"name\":\"Error\",\"message\":\"\u{fffd}\"}}"
        );
        assert!(item("return {n: 1n}", "{}").contains("TypeError"));
        assert!(item("const a = {}; a.a = a; return a", "{}").contains("TypeError"));
        let told = run("throw it", Hook::OnFailure, r#"{"name":"N","message":"m","code":"WDE0025"}"#);
        assert_eq!(told, r#"{"error":{"name":"N","message":"m","code":"WDE0025"}}"#);
    }

    #[test]
    fn queries_are_narrowed_by_the_builder() {
        let query = |body: &str, argument: &str| run(body, Hook::BeforeQuery, argument);
        let asked = r#"{"filter":{"a":1},"sort":[],"paging":{"limit":5,"offset":0}}"#;
        assert_eq!(
            query("return it.eq('b', new Date(0)).limit(2).descending('a', 'b')", asked),
            r#"{"value":{"filter":{"a":1,"b":{"$date":"1970-01-01T00:00:00.000Z"}},"sort":[{"fieldName":"a","order":"DESC"},{"fieldName":"b","order":"DESC"}],"paging":{"offset":0,"limit":2}}}"#
        );
        assert_eq!(
            query("return it.gt('a', 2).lt('c', 3)", asked),
            r#"{"value":{"filter":{"$and":[{"a":1},{"a":{"$gt":2}},{"c":{"$lt":3}}]},"sort":[],"paging":{"limit":5,"offset":0}}}"#
        );
        assert_eq!(
            query("return it.or(it.hasSome('t', 'x', 'y')).not(it)", "{}"),
            r#"{"value":{"filter":{"$and":[{"$or":[{},{"t":{"$hasSome":["x","y"]}}]},{"$not":[{}]}]}}}"#
        );
        assert_eq!(
            query("return it.between('a', 1, 2).skip(4).fields('a')", "{}"),
            r#"{"value":{"filter":{"$and":[{"a":{"$gte":1}},{"a":{"$lt":2}}]},"paging":{"offset":4},"fields":["a"]}}"#
        );
        assert_eq!(
            query("it.eq('b', 1); return it", asked),
            format!(r#"{{"value":{asked}}}"#),
            "a builder doesn't change"
        );
        assert_eq!(query("return {filter: {}}", asked), r#""nothing""#);
        assert!(query("return it.find()", asked).contains("A hook answers the query"));
        let distinct = run("return it.isNotEmpty('a').ascending()", Hook::BeforeDistinct, r#"{"fieldName":"f"}"#);
        assert_eq!(distinct, r#"{"value":{"fieldName":"f","filter":{"a":{"$ne":null}},"order":"ASC"}}"#);
    }

    #[test]
    fn world_has_what_it_says() {
        let world = "return {e: [...new TextEncoder().encode('aé€😀')], u: /^[0-9a-f-]{14}4/.test(crypto.randomUUID()), \
                     m: Math.max(1, 2), t: typeof setTimeout + typeof fetch + typeof require + typeof process + typeof std + typeof os}";
        let undefined = "undefined".repeat(6);
        assert_eq!(
            item(world, "{}"),
            format!(r#"{{"value":{{"e":[97,195,169,226,130,172,240,159,152,128],"u":true,"m":2,"t":"{undefined}"}}}}"#)
        );
        let engine = engine("export const c_h = () => console.log('é'.repeat(9), {a: 1}, new Date(0))");
        assert_eq!(engine.run("c_h", Hook::AfterGet, "{}", ("{}", None), 200).console, "é".repeat(9) + " {");
    }

    #[test]
    fn what_the_engine_stops_is_stopped_and_told() {
        let stopped = |body: &str| item(body, "{}");
        for body in [
            "for (;;);",
            "return (async () => { for (;;) await 0 })()",
            "/^(a+)+$/.test('a'.repeat(40) + 'b')",
            "return new Promise(() => {})",
        ] {
            assert_eq!(stopped(body), TIMED_OUT, "{body}");
        }
        for body in ["const a = []; for (;;) a.push({})", "let s = 'x'; for (;;) s += s", "new Uint8Array(1e9)"] {
            // Memory is over long before the time, also where others have the processor.
            let told = run_within(20_000, body, Hook::BeforeInsert, "{}");
            assert!(told == OUT_OF_MEMORY || told.contains("error"), "{body} {told}");
        }
        assert!(stopped("const f = () => f() + 1; f()").contains("error"));
        assert_eq!(stopped("return {a: 'x'.repeat(5000)}"), r#""tooLarge""#);
    }

    #[test]
    fn tests_import_the_source_and_are_called_by_name() {
        let settings = Settings { memory: 16 << 20, answer: 4_096, console: 200 };
        let load = |tests: &str| {
            let engine = Engine::start(&World::real(), settings).expect("an engine");
            let source = "export const twice = (n) => 2 * n; export const c_h = () => 1";
            let told = engine.load(source, Some(tests), 1_000);
            (engine, told)
        };
        let (engine, told) = load(
            "import { twice } from './data.js';
            test('good', () => { equal(twice(2), 4); equal({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }) });
            test('bad', async () => { await 0; equal({ a: [1] }, { a: [2] }) });
            test('keys', () => equal({ a: 1 }, { b: 1 }));
            test('dates', () => equal(new Date(0), new Date(1)));
            test('numbers', () => { equal(NaN, NaN); equal(0, -0) });
            test('__proto__', () => { console.log('said') });",
        );
        assert_eq!(
            told.expect("tests"),
            r#"[{"name":"good","callable":true},{"name":"bad","callable":true},{"name":"keys","callable":true},{"name":"dates","callable":true},{"name":"numbers","callable":true},{"name":"__proto__","callable":true}]"#
        );
        let told = |name: &str| engine.run(name, Hook::AfterDistinct, "null", ("{}", None), 200).told;
        assert_eq!((told("good"), told("__proto__")), (r#""nothing""#.to_owned(), r#""nothing""#.to_owned()));
        let failed = |why: &str| format!(r#"{{"error":{{"name":"Error","message":{why:?}}}}}"#);
        assert_eq!(told("bad"), failed(r#"{"a":[1]} is not {"a":[2]}"#));
        assert_eq!(told("keys"), failed(r#"{"a":1} is not {"b":1}"#));
        assert_eq!(told("numbers"), r#""nothing""#);
        assert!(told("dates").contains("is not"), "{}", told("dates"));
        let refused = |tests: &str| load(tests).1.expect_err(tests);
        assert!(refused("import { none } from './data.js'").contains("none"));
        assert!(refused("import fs from 'fs'").contains("fs"));
        assert!(refused("\ntest('a')").contains("data.test.js:2"), "{}", refused("\ntest('a')"));
        assert!(refused("test('a', () => {}); test('a', () => {})").contains("two tests are called a"));
    }

    #[test]
    fn source_is_refused_with_its_place() {
        let refused = |source: &str| {
            let settings = Settings { memory: 16 << 20, answer: 4_096, console: 20 };
            Engine::start(&World::real(), settings).expect("an engine").load(source, None, 100).expect_err(source)
        };
        assert!(refused("export function (").contains("SyntaxError"), "{}", refused("export function ("));
        assert!(refused("\nexport let a = ;").contains("data.js:2"), "{}", refused("\nexport let a = ;"));
        assert!(
            refused("import wixData from 'wix-data'").contains("wix-data"),
            "{}",
            refused("import x from 'wix-data'")
        );
        assert!(refused("throw new Error('at once')").contains("at once"));
        assert_eq!(refused("for (;;);"), TIMED_OUT);
        assert_eq!(refused("await new Promise(() => {})"), TIMED_OUT);
    }
}
