import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  continueWith: '{provider} で続ける',

  linkTitle: '{provider} をアカウントに連携',
  linkText: '{email} のアカウントがすでにあります。パスワードを一度入力すると、今後は {provider} でログインできます。',
  link: '連携してログイン',

  failedTitle: '{provider} でログインできませんでした',
  failed: {
    DECLINED: '{provider} がログインを認めなかったか、そこで取り消されました。ここでは何も変わっていません。',
    UNAVAILABLE: '{provider} から応答がありません。後でもう一度試すか、別の方法でログインしてください。',
    NO_EMAIL:
      '{provider} から確認済みのメールアドレスが届きませんでした。このサイトには必要です。別の方法でログインしてください。',
    NO_ACCOUNT: 'ここにはアカウントがありません。このサイトでは {provider} でアカウントを作成できません。',
    REFUSED: '{provider} の応答を受け入れられませんでした。もう一度試すか、別の方法でログインしてください。',
  },
  again: '{provider} をもう一度試す',

  factorText: '{site} のアカウントのパスワードを入力してください。',
  usePassword: 'パスワードを使う',
  wrongPassword: 'パスワードが違います。',

  title: 'ほかのアカウントでのログイン',
  text: 'パスワードなしでここにログインできます。',
  none: 'ログインに使えるほかのアカウントはありません。',
  since: '{date} に連携',
  disconnect: '連携を解除',
  disconnectTitle: '{provider} の連携を解除しますか？',
  disconnectText: '今後はここへのログインに使えません。連携先のアカウントはそのままです。',
  disconnected: '連携を解除しました。',
  lastWayIn: 'ここにログインする唯一の方法です。先にパスワードを設定するか、パスキーを追加してください。',

  factor: 'ほかのアカウントでログインした後のパスワード',
  factorHelp:
    'ほかのアカウントでログインするときに、パスワードも確認します。パスワードでログインした後の確認には使えません。',
  addFactor: 'パスワードも確認する',
  factorReady: 'ほかのアカウントでログインするときに、パスワードを確認します。',
  removeFactor: '今後はほかのアカウントだけでログインできます。',
  factorsNone: '一つの確認だけでログインできます。認証アプリを使うと、アカウントがより安全になります。',
} satisfies Translation<typeof en>;
