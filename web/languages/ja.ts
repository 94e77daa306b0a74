import type { Messages } from './messages.ts';

/** Japanese. */
export const ja: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} は Valetkey を使って安全に管理しています。',
  'brand.kept_safe': 'Valetkey が安全に管理しています。',
  'brand.support': 'サポート',
  'brand.privacy': 'プライバシー',
  'brand.terms': '利用規約',
  'brand.back': '{application} に戻る',
  'brand.back_unnamed': 'アプリケーションに戻る',

  // The page of a link
  'link.title': '{provider} に接続',
  'link.title_with_problems': 'エラー: {provider} に接続',
  'link.asks': '{application} が {provider} アカウントへのアクセスを求めています。',
  'link.account': '対象',
  'link.address': '接続先',
  'link.scopes': '{application} ができること',
  'link.scopes_unknown': '共有する内容は次のページに表示されます。',
  'link.scopes_read': '読み取り',
  'link.scopes_write': '作成と変更',
  'link.scopes_delete': '削除',
  'link.can_delete': 'データを削除できます',
  'link.continue': '{provider} に進む',
  'link.connect': '接続',
  'link.cancel': 'キャンセル',
  'link.consent_note':
    'ログインは {provider} で行います。{provider} のパスワードが当方に伝わることはありません。アクセスは {provider} でいつでも取り消せます。',
  'link.form_note': '入力した内容は暗号化して保存され、アカウントへのアクセスにのみ使用されます。',
  'link.key_page': '{provider} で取得する',
  'link.new_tab': '(新しいタブで開きます)',
  'link.not_you':
    '{identifier} ではない場合や心当たりがない場合は、「キャンセル」を選ぶか、このページを閉じてください。何も共有されません。',
  'link.minutes_left': {
    other: 'このリンクはあと {count} 分間有効です。',
  },

  // Fields and what is wrong with them
  'field.optional': '(任意)',
  'field.show': '表示',
  'field.hide': '隠す',
  'field.paste': '貼り付け',
  'field.choose': '選択してください',
  'problem.summary': {
    other: '次の {count} 項目を修正してください。',
  },
  'problem.required': '{field} を入力してください。',
  'problem.format': '{field} の形式が正しくありません。',
  'problem.choice': '{field} は選択肢にありません。',
  'problem.too_long': '{field} が長すぎます。',
  'problem.control': '{field} に見えない文字が含まれています。もう一度コピーしてください。',
  'problem.address': '{field} は許可されていないアドレスです。',
  'problem.not_accepted': '{provider} がこの {field} を受け付けませんでした。全体をコピーしたか確認してください。',

  // The token in the address of a page
  'token.title': '{provider} への接続を完了',
  'token.heading': 'あと 1 ステップ',
  'token.text':
    '{provider} がこのページのアドレスの末尾にトークンを付けました。ページが自動的に進まない場合は、そこからこの欄にコピーしてください。',
  'token.label': '{provider} のトークン',
  'token.hint': 'このページのアドレスの # より後ろの部分すべて。',
  'token.note': 'このページのアドレスにはトークンが含まれています。共有しないでください。',
  'token.required': '下の欄に入力してください。',

  // Results
  'connected.title': '接続しました',
  'connected.text': 'アカウントが接続されました。このページを閉じてかまいません。',
  'waiting.title': 'あと 1 ステップ',
  'waiting.text': '{application} に戻って完了してください。',
  'waiting.text_unnamed': '元のアプリケーションに戻って完了してください。',
  'used.title': '使用済みです',
  'used.text': 'このリンクはすでに使用されています。このページを閉じてかまいません。',
  'expired.title': 'このリンクは期限切れです',
  'expired.text': 'リンクの有効期間は短くなっています。このリンクを受け取った場所で新しいリンクを取得してください。',
  'stray.title': 'このログインは期限切れです',
  'stray.text': 'このブラウザーでリンクをもう一度開いてください。何も共有されていません。',
  'stale.title': 'リンクをもう一度開いてください',
  'stale.text':
    'ページを開いてから時間が経ちすぎたか、このブラウザーが Cookie を保存していません。安全に戻るために Cookie が必要です。',
  'refused.title': '接続されていません',
  'refused.text': '拒否されたか、{provider} での組織のポリシーにより許可されていません。何も共有されていません。',
  'fault.title': '問題が発生しました',
  'fault.text': 'アカウントは接続されませんでした。しばらくしてからもう一度お試しください。',
  'fault.unreachable':
    '{provider} に接続できませんでした。何も保存されていません。しばらくしてからもう一度お試しください。',
  'result.try_again': 'もう一度試す',
  'result.reference': 'サポート用の参照番号:',

  // The page on which a user lets an application use their accounts
  'access.title': 'アクセスを許可しますか?',
  'access.unnamed': '名前のないアプリケーション',
  'access.asks': '{client} があなたのアカウントへのアクセスを求めています。',
  'access.account': 'ログイン中',
  'access.client': 'アプリケーション',
  'access.published_by': '公開元: {host}',
  'access.registered': '管理者が登録しました',
  'access.unverified': 'アプリケーション自身が登録しました。名前は確認されていません。',
  'access.returns_to': '戻り先',
  'access.local_warning':
    'このコンピューター上のプログラムがアクセスできるようになります。その名前は確認できません。たった今ご自身でこのログインを始めた場合にのみ許可してください。',
  'access.scopes': 'できること',
  'access.see_tools': '{providers} で使えるツールの確認',
  'access.see_own_tools': 'あなたのアカウントで使えるツールの確認',
  'access.use_tools': 'あなたのアカウントでのツールの使用: データの読み取り、作成、変更、削除',
  'access.allow': '許可',
  'access.cancel': 'キャンセル',
  'access.not_you':
    '{identifier} ではない場合や心当たりがない場合は、「キャンセル」を選んでください。何も共有されません。',
  'login.over_title': 'このログインは無効です',
  'login.over_text':
    'ログインは、開始したブラウザーで、短い期間に 1 回だけ有効です。アプリケーションからやり直してください。',
  'login.bad_title': 'アプリケーションがログインを処理できません',

  // Requests that cannot be served
  'error.title': 'このリクエストに問題があります',
  'error.not_found': 'ページが存在しません。',
  'error.method': 'このページはこの種類のリクエストに対応していません。',
  'error.too_many': 'お使いのアドレスからのリクエストが多すぎます。',
  'error.host': 'このホスト名では何も提供されていません。',
  'error.other': 'リクエストを理解できませんでした。',
};
