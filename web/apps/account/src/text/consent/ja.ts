import type { Translation } from '@stoa/text';
import type en from './en.ts';

export default {
  title: '{site} で {app} があなたに代わって動作することを許可しますか？',
  may: '許可すると、あなたに許された範囲で、あなたの名前で次のことができます。',
  until: 'アカウントで取り消すまで有効です。',
  allow: '許可する',
  installUntil: 'サイトの運営者がアプリを無効にするまで有効です。',
} satisfies Translation<typeof en>;
