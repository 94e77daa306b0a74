import type { Messages } from './messages.ts';

/** German. */
export const de: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} nutzt Valetkey, um das zu schützen.',
  'brand.kept_safe': 'Geschützt durch Valetkey.',
  'brand.support': 'Hilfe',
  'brand.privacy': 'Datenschutz',
  'brand.terms': 'Nutzungsbedingungen',
  'brand.back': 'Zurück zu {application}',
  'brand.back_unnamed': 'Zurück zur Anwendung',

  // The page of a link
  'link.title': '{provider} verbinden',
  'link.title_with_problems': 'Fehler: {provider} verbinden',
  'link.asks': '{application} bittet um Zugriff auf Ihr Konto bei {provider}.',
  'link.account': 'Für',
  'link.address': 'Bei',
  'link.scopes': 'Was {application} tun darf',
  'link.scopes_unknown': 'Auf der nächsten Seite steht, was Sie freigeben.',
  'link.scopes_read': 'Lesen',
  'link.scopes_write': 'Erstellen und ändern',
  'link.scopes_delete': 'Löschen',
  'link.can_delete': 'kann Daten löschen',
  'link.continue': 'Weiter zu {provider}',
  'link.connect': 'Verbinden',
  'link.cancel': 'Abbrechen',
  'link.consent_note':
    'Sie melden sich bei {provider} an. Ihr Passwort für {provider} sehen wir nie. Sie können den Zugriff in {provider} jederzeit widerrufen.',
  'link.form_note': 'Ihre Eingaben werden verschlüsselt gespeichert und nur für den Zugriff auf Ihr Konto verwendet.',
  'link.key_page': 'Bei {provider} abrufen',
  'link.new_tab': '(öffnet einen neuen Tab)',
  'link.not_you':
    'Sie sind nicht {identifier} oder haben das nicht erwartet? Wählen Sie „Abbrechen“ oder schließen Sie diese Seite. Es wird nichts freigegeben.',
  'link.minutes_left': {
    one: 'Dieser Link gilt noch eine Minute.',
    other: 'Dieser Link gilt noch {count} Minuten.',
  },

  // Fields and what is wrong with them
  'field.optional': '(freiwillig)',
  'field.show': 'Anzeigen',
  'field.hide': 'Verbergen',
  'field.paste': 'Einfügen',
  'field.choose': 'Auswählen',
  'problem.summary': {
    one: 'Bitte korrigieren Sie:',
    other: 'Bitte korrigieren Sie diese {count} Felder:',
  },
  'problem.required': '{field} muss ausgefüllt sein.',
  'problem.format': '{field} hat ein ungültiges Format.',
  'problem.choice': '{field} ist keine der möglichen Angaben.',
  'problem.too_long': '{field} ist zu lang.',
  'problem.control': '{field} enthält unsichtbare Zeichen. Kopieren Sie die Angabe noch einmal.',
  'problem.address': '{field} ist keine erlaubte Adresse.',
  'problem.not_accepted':
    '{provider} hat diese Angabe nicht akzeptiert: {field}. Prüfen Sie, ob Sie alles kopiert haben.',

  // The token in the address of a page
  'token.title': 'Verbindung mit {provider} abschließen',
  'token.heading': 'Noch ein Schritt',
  'token.text':
    '{provider} hat Ihr Token an das Ende der Adresse dieser Seite gesetzt. Wenn es nicht von selbst weitergeht, kopieren Sie es von dort in dieses Feld.',
  'token.label': 'Token von {provider}',
  'token.hint': 'Alles, was in der Adresse dieser Seite nach dem Zeichen # steht.',
  'token.note': 'Geben Sie die Adresse dieser Seite nicht weiter: Sie enthält Ihr Token.',
  'token.required': 'Bitte füllen Sie das Feld aus.',

  // Results
  'connected.title': 'Verbunden',
  'connected.text': 'Das Konto ist verbunden. Sie können diese Seite schließen.',
  'waiting.title': 'Noch ein Schritt',
  'waiting.text': 'Kehren Sie zu {application} zurück, um abzuschließen.',
  'waiting.text_unnamed': 'Kehren Sie zu der Anwendung zurück, von der Sie kamen, um abzuschließen.',
  'used.title': 'Bereits verwendet',
  'used.text': 'Dieser Link wurde bereits verwendet. Sie können diese Seite schließen.',
  'expired.title': 'Dieser Link ist abgelaufen',
  'expired.text': 'Links gelten nur kurze Zeit. Fordern Sie dort einen neuen an, wo Sie diesen erhalten haben.',
  'stray.title': 'Diese Anmeldung ist abgelaufen',
  'stray.text': 'Öffnen Sie Ihren Link noch einmal in diesem Browser. Es wurde nichts freigegeben.',
  'stale.title': 'Bitte öffnen Sie den Link noch einmal',
  'stale.text':
    'Die Seite war zu lange geöffnet, oder dieser Browser speichert keine Cookies. Cookies werden gebraucht, um Sie sicher zurückzubringen.',
  'refused.title': 'Nicht verbunden',
  'refused.text':
    'Sie haben abgelehnt, oder eine Richtlinie Ihrer Organisation bei {provider} erlaubt es nicht. Es wurde nichts freigegeben.',
  'fault.title': 'Etwas ist schiefgegangen',
  'fault.text': 'Das Konto wurde nicht verbunden. Bitte versuchen Sie es gleich noch einmal.',
  'fault.unreachable':
    '{provider} war nicht erreichbar. Es wurde nichts gespeichert. Bitte versuchen Sie es gleich noch einmal.',
  'result.try_again': 'Noch einmal versuchen',
  'result.reference': 'Kennung für den Support:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Zugriff erlauben?',
  'access.unnamed': 'Eine Anwendung ohne Namen',
  'access.asks': '{client} bittet um Zugriff auf Ihre Konten.',
  'access.account': 'Angemeldet als',
  'access.client': 'Anwendung',
  'access.published_by': 'Veröffentlicht von {host}',
  'access.registered': 'Von Ihrer Administration registriert',
  'access.unverified': 'Selbst registriert. Der Name ist nicht geprüft.',
  'access.returns_to': 'Führt zurück zu',
  'access.local_warning':
    'Ein Programm auf diesem Computer erhält Zugriff, und sein Name kann nicht geprüft werden. Erlauben Sie es nur, wenn Sie diese Anmeldung gerade selbst begonnen haben.',
  'access.scopes': 'Was sie tun darf',
  'access.see_tools': 'Sehen, welche Werkzeuge es für {providers} gibt',
  'access.see_own_tools': 'Sehen, welche Werkzeuge es für Ihre Konten gibt',
  'access.use_tools': 'Diese Werkzeuge mit Ihren Konten verwenden: dort Daten lesen, erstellen, ändern und löschen',
  'access.allow': 'Erlauben',
  'access.cancel': 'Abbrechen',
  'access.not_you':
    'Sie sind nicht {identifier} oder haben das nicht erwartet? Wählen Sie „Abbrechen“. Es wird nichts freigegeben.',
  'login.over_title': 'Diese Anmeldung ist nicht gültig',
  'login.over_text':
    'Anmeldungen gelten einmal, für kurze Zeit und nur in dem Browser, in dem sie begonnen haben. Beginnen Sie in Ihrer Anwendung von vorn.',
  'login.bad_title': 'Die Anwendung kann Sie nicht anmelden',

  // Requests that cannot be served
  'error.title': 'Mit dieser Anfrage stimmt etwas nicht',
  'error.not_found': 'Diese Seite gibt es nicht.',
  'error.method': 'Die Seite unterstützt diese Art von Anfrage nicht.',
  'error.too_many': 'Zu viele Anfragen von Ihrer Adresse.',
  'error.host': 'Unter diesem Hostnamen wird nichts angeboten.',
  'error.other': 'Die Anfrage war nicht zu verstehen.',
};
