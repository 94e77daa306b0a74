import type { Messages } from './messages.ts';

/** Polish. */
export const pl: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} korzysta z Valetkey, aby zapewnić bezpieczeństwo.',
  'brand.kept_safe': 'Zabezpieczone przez Valetkey.',
  'brand.support': 'Pomoc',
  'brand.privacy': 'Prywatność',
  'brand.terms': 'Warunki',
  'brand.back': 'Wróć do: {application}',
  'brand.back_unnamed': 'Wróć do aplikacji',

  // The page of a link
  'link.title': 'Połącz z {provider}',
  'link.title_with_problems': 'Błąd: połącz z {provider}',
  'link.asks': '{application} prosi o dostęp do Twojego konta {provider}.',
  'link.account': 'Dla',
  'link.address': 'Adres',
  'link.scopes': 'Co będzie mogła robić aplikacja {application}',
  'link.scopes_unknown': 'Następna strona pokazuje, co udostępniasz.',
  'link.scopes_read': 'Odczyt',
  'link.scopes_write': 'Tworzenie i zmiana',
  'link.scopes_delete': 'Usuwanie',
  'link.can_delete': 'może usuwać dane',
  'link.continue': 'Przejdź do {provider}',
  'link.connect': 'Połącz',
  'link.cancel': 'Anuluj',
  'link.consent_note':
    'Logujesz się w {provider}. Nigdy nie widzimy Twojego hasła do {provider}. W każdej chwili możesz cofnąć dostęp w {provider}.',
  'link.form_note': 'Wpisane dane są przechowywane w postaci zaszyfrowanej i służą tylko do dostępu do Twojego konta.',
  'link.key_page': 'Pobierz z {provider}',
  'link.new_tab': '(otwiera się w nowej karcie)',
  'link.not_you':
    'Nie jesteś użytkownikiem {identifier} lub nie spodziewasz się tej prośby? Wybierz „Anuluj” lub zamknij tę stronę. Nic nie zostanie udostępnione.',
  'link.minutes_left': {
    one: 'Ten link działa jeszcze przez minutę.',
    few: 'Ten link działa jeszcze przez {count} minuty.',
    many: 'Ten link działa jeszcze przez {count} minut.',
    other: 'Ten link działa jeszcze przez {count} minuty.',
  },

  // Fields and what is wrong with them
  'field.optional': '(opcjonalnie)',
  'field.show': 'Pokaż',
  'field.hide': 'Ukryj',
  'field.paste': 'Wklej',
  'field.choose': 'Wybierz',
  'problem.summary': {
    one: 'Popraw to pole:',
    few: 'Popraw te {count} pola:',
    many: 'Popraw te {count} pól:',
    other: 'Popraw te {count} pola:',
  },
  'problem.required': '{field}: pole jest wymagane.',
  'problem.format': '{field}: nieprawidłowy format.',
  'problem.choice': '{field}: to nie jest jedna z możliwości.',
  'problem.too_long': '{field}: wartość jest za długa.',
  'problem.control': '{field}: wartość zawiera niewidoczne znaki. Skopiuj ją ponownie.',
  'problem.address': '{field}: ten adres jest niedozwolony.',
  'problem.not_accepted': '{provider} nie akceptuje tej wartości: {field}. Sprawdź, czy została skopiowana w całości.',

  // The token in the address of a page
  'token.title': 'Dokończ łączenie z {provider}',
  'token.heading': 'Został jeden krok',
  'token.text':
    '{provider} umieszcza token na końcu adresu tej strony. Jeśli strona sama nie przejdzie dalej, skopiuj go stamtąd do tego pola.',
  'token.label': 'Token z {provider}',
  'token.hint': 'Wszystko, co w adresie tej strony znajduje się po znaku #.',
  'token.note': 'Nie udostępniaj adresu tej strony: zawiera Twój token.',
  'token.required': 'Wypełnij poniższe pole.',

  // Results
  'connected.title': 'Połączono',
  'connected.text': 'Konto jest połączone. Możesz zamknąć tę stronę.',
  'waiting.title': 'Jeszcze jeden krok',
  'waiting.text': 'Wróć do aplikacji {application}, aby zakończyć.',
  'waiting.text_unnamed': 'Wróć do aplikacji, z której tu trafiasz, aby zakończyć.',
  'used.title': 'Już wykorzystany',
  'used.text': 'Ten link został już wykorzystany. Możesz zamknąć tę stronę.',
  'expired.title': 'Ten link wygasł',
  'expired.text': 'Linki działają krótko. Poproś o nowy tam, skąd masz ten.',
  'stray.title': 'To logowanie wygasło',
  'stray.text': 'Otwórz link ponownie w tej przeglądarce. Nic nie zostało udostępnione.',
  'stale.title': 'Otwórz link ponownie',
  'stale.text':
    'Strona była otwarta zbyt długo albo ta przeglądarka nie przechowuje plików cookie. Są one potrzebne, aby bezpiecznie wrócić.',
  'refused.title': 'Nie połączono',
  'refused.text':
    'Odmówiono dostępu albo nie pozwala na to polityka Twojej organizacji w {provider}. Nic nie zostało udostępnione.',
  'fault.title': 'Coś poszło nie tak',
  'fault.text': 'Konto nie zostało połączone. Spróbuj ponownie za chwilę.',
  'fault.unreachable': 'Nie można połączyć się z {provider}. Nic nie zostało zapisane. Spróbuj ponownie za chwilę.',
  'result.try_again': 'Spróbuj ponownie',
  'result.reference': 'Numer dla pomocy technicznej:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Zezwolić na dostęp?',
  'access.unnamed': 'Aplikacja bez nazwy',
  'access.asks': '{client} prosi o dostęp do Twoich kont.',
  'access.account': 'Zalogowano jako',
  'access.client': 'Aplikacja',
  'access.published_by': 'Opublikowana przez {host}',
  'access.registered': 'Zarejestrowana przez administratora',
  'access.unverified': 'Zarejestrowała się sama. Jej nazwa nie jest zweryfikowana.',
  'access.returns_to': 'Wraca do',
  'access.local_warning':
    'Program na tym komputerze uzyska dostęp, a jego nazwy nie można zweryfikować. Zezwól tylko wtedy, gdy to logowanie zostało właśnie rozpoczęte przez Ciebie.',
  'access.scopes': 'Co będzie mogła robić',
  'access.see_tools': 'Wyświetlać narzędzia dostępne dla: {providers}',
  'access.see_own_tools': 'Wyświetlać narzędzia dostępne dla Twoich kont',
  'access.use_tools': 'Używać tych narzędzi z Twoimi kontami: odczytywać, tworzyć, zmieniać i usuwać w nich dane',
  'access.allow': 'Zezwól',
  'access.cancel': 'Anuluj',
  'access.not_you':
    'Nie jesteś użytkownikiem {identifier} lub nie spodziewasz się tej prośby? Wybierz „Anuluj”. Nic nie zostanie udostępnione.',
  'login.over_title': 'To logowanie jest nieważne',
  'login.over_text':
    'Logowanie działa raz, przez krótki czas i tylko w przeglądarce, w której się zaczęło. Zacznij od nowa w swojej aplikacji.',
  'login.bad_title': 'Aplikacja nie może Cię zalogować',

  // Requests that cannot be served
  'error.title': 'Z tym żądaniem jest coś nie tak',
  'error.not_found': 'Ta strona nie istnieje.',
  'error.method': 'Strona nie obsługuje tego rodzaju żądania.',
  'error.too_many': 'Zbyt wiele żądań z Twojego adresu.',
  'error.host': 'Pod tą nazwą hosta nic nie jest dostępne.',
  'error.other': 'Nie udało się zrozumieć żądania.',
};
