//! How a message looks: one layout of tables and inline styles, because mail programs drop everything
//! else, and the same words as plain text.

/// A language and the way it runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Tongue<'a> {
    pub tag: &'a str,
    pub is_right_to_left: bool,
}

/// Filled words, and the language they are in: what a site's own language lacks is in one of ours.
pub(super) struct Part<'a> {
    pub text: String,
    pub tongue: Tongue<'a>,
}

/// Filled words of a message; nothing is escaped yet.
pub(super) struct Parts<'a> {
    /// That of the message.
    pub tongue: Tongue<'a>,
    pub site: String,
    pub title: Part<'a>,
    /// Lines are paragraphs of their own.
    pub body: Part<'a>,
    pub action: Part<'a>,
    pub note: Part<'a>,
    pub copy_link: Part<'a>,
    pub foot: Part<'a>,
    pub code: Option<&'a str>,
    pub link: Option<&'a str>,
}

const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif";
const HEAD: &str = "'Source Serif 4','Iowan Old Style','Palatino Linotype',Georgia,'Noto Serif',serif";

/// Programs that know a dark theme take these; in others the inline colours stand.
const DARK: &str = "@media (prefers-color-scheme:dark){\
    .page{background:#14191e!important}.card{background:#1b2229!important;border-color:#323c47!important}\
    .ink{color:#ece7de!important}.quiet{color:#a9b1ba!important}.line{border-color:#323c47!important}\
    .code{background:#232b34!important;color:#ece7de!important;border-color:#323c47!important}\
    .button{background:#e08a5f!important}.button a{color:#1d130d!important}.accent{color:#e08a5f!important}}";

impl Tongue<'_> {
    /// The direction, and the side on which lines begin.
    fn way(self) -> (&'static str, &'static str) {
        if self.is_right_to_left { ("rtl", "right") } else { ("ltr", "left") }
    }
}

pub(super) fn html(it: &Parts<'_>) -> String {
    let (dir, start) = it.tongue.way();
    // What is in another language says so itself.
    let mark = |part: &Part<'_>| match part.tongue == it.tongue {
        true => String::new(),
        false => format!(" lang=\"{}\" dir=\"{}\"", escape(part.tongue.tag), part.tongue.way().0),
    };
    let words = |part: &Part<'_>| match mark(part) {
        mark if mark.is_empty() => escape(&part.text),
        mark => format!("<span{mark}>{}</span>", escape(&part.text)),
    };
    let paragraph = |class: &str, style: &str, part: &Part<'_>, line: &str| match line.is_empty() {
        true => String::new(),
        false => {
            let (mark, start) = (mark(part), part.tongue.way().1);
            format!(
                "<p class=\"{class}\"{mark} style=\"margin:0 0 12px;text-align:{start};{style}\">{}</p>",
                escape(line)
            )
        }
    };
    let lines: String = it.body.text.lines().map(|line| paragraph("ink", "color:#26221c", &it.body, line)).collect();
    let code = it.code.map_or_else(String::new, |code| {
        format!(
            "<p style=\"margin:20px 0\"><span class=\"code\" dir=\"ltr\" style=\"display:inline-block;padding:12px 20px;\
             border:1px solid #e3dccf;border-radius:6px;background:#faf7f1;color:#26221c;font-size:28px;line-height:36px;\
             font-weight:600;letter-spacing:6px;font-variant-numeric:tabular-nums\">{}</span></p>",
            escape(code)
        )
    });
    let link = it.link.filter(|_| !it.action.text.is_empty()).map_or_else(String::new, |link| {
        let link = escape(link);
        format!(
            "<table role=\"presentation\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\" style=\"margin:20px 0\"><tr>\
             <td class=\"button\" style=\"background:#b4532a;border-radius:6px\"><a href=\"{link}\" \
             style=\"display:inline-block;padding:12px 24px;color:#ffffff;font-weight:600;text-decoration:none\">{}</a></td>\
             </tr></table>",
            words(&it.action)
        )
    });
    let copy = it.link.map_or_else(String::new, |link| {
        let link = escape(link);
        format!(
            "<p class=\"quiet\"{} style=\"margin:0 0 4px;text-align:{};color:#655d50;font-size:14px;line-height:20px\">{}</p>\
             <p dir=\"ltr\" style=\"margin:0 0 12px;font-size:14px;line-height:20px;text-align:{start};word-break:break-all\">\
             <a class=\"accent\" href=\"{link}\" style=\"color:#b4532a\">{link}</a></p>",
            mark(&it.copy_link),
            it.copy_link.tongue.way().1,
            escape(&it.copy_link.text)
        )
    });
    format!(
        "<!doctype html>\n<html lang=\"{language}\" dir=\"{dir}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"supported-color-schemes\" content=\"light dark\">\
         <title>{title}</title><style>:root{{color-scheme:light dark}}{DARK}</style></head>\
         <body class=\"page\" style=\"margin:0;padding:0;background:#faf7f1\"><div role=\"main\">\
         <table class=\"page\" role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\" \
         style=\"background:#faf7f1\"><tr><td align=\"center\" style=\"padding:32px 16px\">\
         <table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\" dir=\"{dir}\" \
         style=\"max-width:560px;text-align:{start};font-family:{FONT};font-size:16px;line-height:24px\">\
         <tr><td style=\"padding:0 4px 16px;font-family:{HEAD};font-size:20px;line-height:28px\">\
         <span class=\"ink\" style=\"color:#26221c\">{site}</span></td></tr>\
         <tr><td class=\"card\" style=\"padding:32px 28px 20px;background:#fffdf9;border:1px solid #e3dccf;border-radius:6px\">\
         <h1 class=\"ink\" style=\"margin:0 0 16px;font-family:{HEAD};font-size:26px;line-height:32px;font-weight:600;\
         color:#26221c\">{heading}</h1>{lines}{code}{link}{note}{copy}</td></tr>\
         <tr><td class=\"quiet\" style=\"padding:16px 4px 0;color:#655d50;font-size:12px;line-height:18px\">{foot}</td></tr>\
         </table></td></tr></table></div></body></html>\n",
        language = escape(it.tongue.tag),
        title = escape(&it.title.text),
        heading = words(&it.title),
        site = escape(&it.site),
        note = paragraph("quiet", "color:#655d50;font-size:14px;line-height:20px", &it.note, &it.note.text),
        foot = words(&it.foot),
    )
}

pub(super) fn text(it: &Parts<'_>) -> String {
    let action = it.link.map(|link| match it.action.text.is_empty() {
        true => link.to_owned(),
        false => format!("{}:\n{link}", it.action.text),
    });
    let parts = [Some(it.title.text.as_str()), Some(&it.body.text), it.code, action.as_deref(), Some(&it.note.text)];
    let mut out = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n");
    out.push_str("\n\n-- \n");
    out.push_str(&it.foot.text);
    out.push('\n');
    out
}

/// Text that can stand between tags and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            it => out.push(it),
        }
    }
    out
}
