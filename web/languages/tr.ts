import type { Messages } from './messages.ts';

/** Turkish. */
export const tr: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} bunu güvende tutmak için Valetkey kullanıyor.',
  'brand.kept_safe': 'Valetkey ile korunuyor.',
  'brand.support': 'Destek',
  'brand.privacy': 'Gizlilik',
  'brand.terms': 'Koşullar',
  'brand.back': 'Geri dön: {application}',
  'brand.back_unnamed': 'Uygulamaya geri dön',

  // The page of a link
  'link.title': '{provider} hesabını bağla',
  'link.title_with_problems': 'Hata: {provider} hesabını bağla',
  'link.asks': '{application}, {provider} hesabınıza erişim istiyor.',
  'link.account': 'Kullanıcı',
  'link.address': 'Adres',
  'link.scopes': '{application} neler yapabilecek',
  'link.scopes_unknown': 'Sonraki sayfa neleri paylaştığınızı gösterir.',
  'link.scopes_read': 'Okuma',
  'link.scopes_write': 'Oluşturma ve değiştirme',
  'link.scopes_delete': 'Silme',
  'link.can_delete': 'verileri silebilir',
  'link.continue': '{provider} ile devam et',
  'link.connect': 'Bağla',
  'link.cancel': 'İptal',
  'link.consent_note':
    '{provider} üzerinde oturum açarsınız. {provider} parolanızı hiçbir zaman görmeyiz. Erişimi {provider} üzerinden istediğiniz zaman kaldırabilirsiniz.',
  'link.form_note': 'Yazdıklarınız şifrelenerek saklanır ve yalnızca hesabınıza erişmek için kullanılır.',
  'link.key_page': '{provider} üzerinden al',
  'link.new_tab': '(yeni sekmede açılır)',
  'link.not_you':
    '{identifier} siz değil misiniz veya bunu beklemiyor muydunuz? “İptal”i seçin veya bu sayfayı kapatın. Hiçbir şey paylaşılmaz.',
  'link.minutes_left': {
    one: 'Bu bağlantı bir dakika daha çalışır.',
    other: 'Bu bağlantı {count} dakika daha çalışır.',
  },

  // Fields and what is wrong with them
  'field.optional': '(isteğe bağlı)',
  'field.show': 'Göster',
  'field.hide': 'Gizle',
  'field.paste': 'Yapıştır',
  'field.choose': 'Seçin',
  'problem.summary': {
    one: 'Lütfen bunu düzeltin:',
    other: 'Lütfen bu {count} alanı düzeltin:',
  },
  'problem.required': '{field}: bu alan zorunludur.',
  'problem.format': '{field}: biçim geçersiz.',
  'problem.choice': '{field}: seçeneklerden biri değil.',
  'problem.too_long': '{field}: değer çok uzun.',
  'problem.control': '{field}: değer görünmeyen karakterler içeriyor. Yeniden kopyalayın.',
  'problem.address': '{field}: bu adrese izin verilmiyor.',
  'problem.not_accepted': '{provider} bu değeri kabul etmedi: {field}. Tamamını kopyaladığınızdan emin olun.',

  // The token in the address of a page
  'token.title': '{provider} bağlantısını tamamla',
  'token.heading': 'Bir adım kaldı',
  'token.text':
    '{provider}, belirtecinizi bu sayfanın adresinin sonuna koydu. Sayfa kendiliğinden ilerlemezse oradan bu alana kopyalayın.',
  'token.label': '{provider} belirteci',
  'token.hint': 'Bu sayfanın adresinde # karakterinden sonra gelen her şey.',
  'token.note': 'Bu sayfanın adresini paylaşmayın: belirtecinizi içerir.',
  'token.required': 'Lütfen aşağıdaki alanı doldurun.',

  // Results
  'connected.title': 'Bağlandı',
  'connected.text': 'Hesap bağlandı. Bu sayfayı kapatabilirsiniz.',
  'waiting.title': 'Bir adım daha',
  'waiting.text': 'Tamamlamak için şuraya dönün: {application}.',
  'waiting.text_unnamed': 'Tamamlamak için sizi buraya gönderen uygulamaya dönün.',
  'used.title': 'Zaten kullanıldı',
  'used.text': 'Bu bağlantı kullanıldı. Bu sayfayı kapatabilirsiniz.',
  'expired.title': 'Bu bağlantının süresi doldu',
  'expired.text': 'Bağlantılar kısa süre çalışır. Bunu aldığınız yerden yenisini isteyin.',
  'stray.title': 'Bu oturum açma işleminin süresi doldu',
  'stray.text': 'Bağlantınızı bu tarayıcıda yeniden açın. Hiçbir şey paylaşılmadı.',
  'stale.title': 'Lütfen bağlantıyı yeniden açın',
  'stale.text':
    'Sayfa çok uzun süre açık kaldı veya bu tarayıcı çerezleri saklamıyor. Sizi güvenle geri getirmek için çerezler gereklidir.',
  'refused.title': 'Bağlanmadı',
  'refused.text':
    'Siz reddettiniz veya kuruluşunuzun {provider} üzerindeki ilkesi buna izin vermiyor. Hiçbir şey paylaşılmadı.',
  'fault.title': 'Bir sorun oluştu',
  'fault.text': 'Hesap bağlanmadı. Lütfen biraz sonra yeniden deneyin.',
  'fault.unreachable': '{provider} adresine ulaşılamadı. Hiçbir şey saklanmadı. Lütfen biraz sonra yeniden deneyin.',
  'result.try_again': 'Yeniden dene',
  'result.reference': 'Destek için referans:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Erişime izin verilsin mi?',
  'access.unnamed': 'Adsız bir uygulama',
  'access.asks': '{client} hesaplarınıza erişim istiyor.',
  'access.account': 'Oturum açan',
  'access.client': 'Uygulama',
  'access.published_by': 'Yayımlayan: {host}',
  'access.registered': 'Yöneticiniz tarafından kaydedildi',
  'access.unverified': 'Kendini kaydetti. Adı doğrulanmadı.',
  'access.returns_to': 'Döneceği yer',
  'access.local_warning':
    'Bu bilgisayardaki bir program erişim elde edecek ve adı doğrulanamıyor. Yalnızca bu oturum açma işlemini az önce kendiniz başlattıysanız izin verin.',
  'access.scopes': 'Neler yapabilecek',
  'access.see_tools': 'Şunlar için hangi araçların olduğunu görme: {providers}',
  'access.see_own_tools': 'Hesaplarınız için hangi araçların olduğunu görme',
  'access.use_tools': 'Bu araçları hesaplarınızla kullanma: oradaki verileri okuma, oluşturma, değiştirme ve silme',
  'access.allow': 'İzin ver',
  'access.cancel': 'İptal',
  'access.not_you':
    '{identifier} siz değil misiniz veya bunu beklemiyor muydunuz? “İptal”i seçin. Hiçbir şey paylaşılmaz.',
  'login.over_title': 'Bu oturum açma işlemi geçerli değil',
  'login.over_text':
    'Oturum açma işlemleri bir kez, kısa süre ve yalnızca başladıkları tarayıcıda çalışır. Uygulamanızda yeniden başlayın.',
  'login.bad_title': 'Uygulama oturumunuzu açamıyor',

  // Requests that cannot be served
  'error.title': 'Bu istekte bir sorun var',
  'error.not_found': 'Sayfa bulunamadı.',
  'error.method': 'Sayfa bu tür isteği desteklemiyor.',
  'error.too_many': 'Adresinizden çok fazla istek geldi.',
  'error.host': 'Bu ana makine adı altında bir şey sunulmuyor.',
  'error.other': 'İstek anlaşılamadı.',
};
