//! Japanese.

use crate::mail::words::{Language, Words};

pub(super) const TEXT: Language = Language {
    tag: "ja",
    is_right_to_left: false,
    copy_link: "ボタンが動作しない場合は、次のアドレスを開いてください：",
    footer: "{site} から送信",
    verification: Words {
        subject: "{site} の確認コード：{code}",
        title: "確認コード",
        body: "このコードを入力して、{site} のメールアドレスを確認してください。",
        action: "",
        note: "コードは一度だけ、10分間有効です。心当たりがない場合は、このメールを無視してください。",
    },
    recovery: Words {
        subject: "{site} の新しいパスワード",
        title: "新しいパスワードの設定",
        body: "{site} のアカウントについて、パスワード再設定の依頼がありました。",
        action: "新しいパスワードを設定",
        note: "リンクは一度だけ、1時間有効です。心当たりがない場合は、このメールを無視してください。何も変更されていません。",
    },
    activation: Words {
        subject: "{site} のアカウント",
        title: "アカウントの有効化",
        body: "{site} にあなたのアカウントが用意されています。パスワードを設定するとログインできます。",
        action: "パスワードを設定",
        note: "リンクは一度だけ、1時間有効です。{site} に心当たりがない場合は、このメールを無視してください。",
    },
    new_device: Words {
        subject: "{site} への新しいログイン",
        title: "新しいログイン",
        body: "これまでに使われたことのないブラウザから、あなたのアカウントにログインがありました。\n{device}\n{time}",
        action: "心当たりがありません",
        note: "ご本人の場合は何もする必要はありません。そうでない場合は新しいパスワードを設定してください。すべてのログインが解除されます。",
    },
    password_changed: Words {
        subject: "{site} のパスワードが変更されました",
        title: "パスワードが変更されました",
        body: "{site} のアカウントのパスワードが変更されました。\n{time}",
        action: "心当たりがありません",
        note: "ご本人の場合は何もする必要はありません。そうでない場合は新しいパスワードを設定してください。すべてのログインが解除されます。",
    },
    password_dropped: Words {
        subject: "{site} のパスワードが削除されました",
        title: "パスワードが削除されました",
        body: "{site} が独自の方法でログインを行いました。このメールアドレスはまだ確認されていなかったため、ほかの人が設定した可能性のあるパスワードは使えなくなりました。\n{time}",
        action: "パスワードを選ぶ",
        note: "{site} を通じてログインしている場合は、何もする必要はありません。",
    },
    email_verified: Words {
        subject: "{site} のメールアドレスが確認されました",
        title: "メールアドレスが確認されました",
        body: "{email} が {site} のアカウントのアドレスとして確認されました。\n{time}",
        action: "心当たりがありません",
        note: "ご本人の場合は何もする必要はありません。そうでない場合は新しいパスワードを設定してください。すべてのログインが解除されます。",
    },
    email_changed: Words {
        subject: "{site} のメールアドレスが変更されました",
        title: "メールアドレスが変更されました",
        body: "{site} のアカウントのアドレスは {email} になりました。このメールを受け取ったアドレスには、今後メールが届きません。\n{time}",
        action: "",
        note: "ご本人の場合は何もする必要はありません。そうでない場合は、すぐに {site} の運営者へ連絡してください。アカウントを元に戻せるのは運営者だけです。",
    },
    approval_request: Words {
        subject: "{name} さんが {site} への参加を希望しています",
        title: "参加の申請があります",
        body: "{name} さん（{email}）が {site} にアカウントを作成し、承認を待っています。",
        action: "申請を見る",
        note: "リンクはあなた専用で、7日間有効です。このメールを転送しないでください。",
    },
    approved: Words {
        subject: "{site} へようこそ",
        title: "ログインできるようになりました",
        body: "{site} の運営者があなたのアカウントを承認しました。",
        action: "ログイン",
        note: "",
    },
    declined: Words {
        subject: "{site} のアカウント",
        title: "アカウントは承認されませんでした",
        body: "{site} の運営者は、あなたのアカウントを承認しないことにしました。",
        action: "",
        note: "誤りだと思われる場合は、運営者にお問い合わせください。",
    },
    webhook_disabled: Words {
        subject: "{site} の Webhook が配信されていません",
        title: "Webhook エンドポイントを停止しました",
        body: "{site} のイベントを数日間 {name} に配信できなかったため、送信を停止しました。その間の出来事は最長十四日間保存されます。\n{time}",
        action: "ログイン",
        note: "エンドポイントが復旧したら再開してください。停止した位置から続きます。",
    },
};
