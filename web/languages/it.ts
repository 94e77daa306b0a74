import type { Messages } from './messages.ts';

/** Italian. */
export const it: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} usa Valetkey per proteggere questo accesso.',
  'brand.kept_safe': 'Protetto da Valetkey.',
  'brand.support': 'Assistenza',
  'brand.privacy': 'Informativa sulla privacy',
  'brand.terms': 'Condizioni',
  'brand.back': 'Torna a {application}',
  'brand.back_unnamed': 'Torna all’applicazione',

  // The page of a link
  'link.title': 'Collega {provider}',
  'link.title_with_problems': 'Errore: collega {provider}',
  'link.asks': '{application} chiede l’accesso al tuo account {provider}.',
  'link.account': 'Per',
  'link.address': 'Indirizzo',
  'link.scopes': 'Che cosa potrà fare {application}',
  'link.scopes_unknown': 'La pagina successiva indica che cosa condividi.',
  'link.scopes_read': 'Leggere',
  'link.scopes_write': 'Creare e modificare',
  'link.scopes_delete': 'Eliminare',
  'link.can_delete': 'può eliminare dati',
  'link.continue': 'Continua su {provider}',
  'link.connect': 'Collega',
  'link.cancel': 'Annulla',
  'link.consent_note':
    'Accedi su {provider}. Non vediamo mai la tua password di {provider}. Puoi revocare l’accesso in {provider} in qualsiasi momento.',
  'link.form_note': 'Ciò che scrivi viene salvato cifrato e usato solo per accedere al tuo account.',
  'link.key_page': 'Ottienilo da {provider}',
  'link.new_tab': '(si apre in una nuova scheda)',
  'link.not_you':
    'Non sei {identifier} o non ti aspettavi questa richiesta? Scegli «Annulla» o chiudi questa pagina. Non verrà condiviso nulla.',
  'link.minutes_left': {
    one: 'Questo link funziona ancora per un minuto.',
    many: 'Questo link funziona ancora per {count} di minuti.',
    other: 'Questo link funziona ancora per {count} minuti.',
  },

  // Fields and what is wrong with them
  'field.optional': '(facoltativo)',
  'field.show': 'Mostra',
  'field.hide': 'Nascondi',
  'field.paste': 'Incolla',
  'field.choose': 'Scegli',
  'problem.summary': {
    one: 'Correggi quanto segue:',
    many: 'Correggi questi {count} di campi:',
    other: 'Correggi questi {count} campi:',
  },
  'problem.required': '{field}: campo obbligatorio.',
  'problem.format': '{field}: il formato non è valido.',
  'problem.choice': '{field}: non è una delle scelte.',
  'problem.too_long': '{field}: il valore è troppo lungo.',
  'problem.control': '{field}: il valore contiene caratteri invisibili. Copialo di nuovo.',
  'problem.address': '{field}: l’indirizzo non è consentito.',
  'problem.not_accepted': '{provider} non ha accettato questo valore: {field}. Controlla di averlo copiato per intero.',

  // The token in the address of a page
  'token.title': 'Completa il collegamento a {provider}',
  'token.heading': 'Manca un passaggio',
  'token.text':
    '{provider} ha messo il tuo token alla fine dell’indirizzo di questa pagina. Se la pagina non prosegue da sola, copialo da lì in questo campo.',
  'token.label': 'Token di {provider}',
  'token.hint': 'Tutto ciò che segue il carattere # nell’indirizzo di questa pagina.',
  'token.note': 'Non condividere l’indirizzo di questa pagina: contiene il tuo token.',
  'token.required': 'Compila il campo qui sotto.',

  // Results
  'connected.title': 'Collegato',
  'connected.text': 'L’account è collegato. Puoi chiudere questa pagina.',
  'waiting.title': 'Ancora un passaggio',
  'waiting.text': 'Torna a {application} per finire.',
  'waiting.text_unnamed': 'Torna all’applicazione da cui provieni per finire.',
  'used.title': 'Già utilizzato',
  'used.text': 'Questo link è già stato utilizzato. Puoi chiudere questa pagina.',
  'expired.title': 'Questo link è scaduto',
  'expired.text': 'I link funzionano per poco tempo. Chiedine uno nuovo dove hai ricevuto questo.',
  'stray.title': 'Questo accesso è scaduto',
  'stray.text': 'Apri di nuovo il link in questo browser. Non è stato condiviso nulla.',
  'stale.title': 'Apri di nuovo il link',
  'stale.text':
    'La pagina è rimasta aperta troppo a lungo o questo browser non conserva i cookie. Servono per riportarti qui in sicurezza.',
  'refused.title': 'Non collegato',
  'refused.text':
    'Hai rifiutato, oppure una regola della tua organizzazione su {provider} non lo consente. Non è stato condiviso nulla.',
  'fault.title': 'Qualcosa è andato storto',
  'fault.text': 'L’account non è stato collegato. Riprova tra poco.',
  'fault.unreachable': 'Impossibile raggiungere {provider}. Non è stato salvato nulla. Riprova tra poco.',
  'result.try_again': 'Riprova',
  'result.reference': 'Riferimento per l’assistenza:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Consentire l’accesso?',
  'access.unnamed': 'Un’applicazione senza nome',
  'access.asks': '{client} chiede l’accesso ai tuoi account.',
  'access.account': 'Accesso come',
  'access.client': 'Applicazione',
  'access.published_by': 'Pubblicata da {host}',
  'access.registered': 'Registrata dal tuo amministratore',
  'access.unverified': 'Si è registrata da sola. Il suo nome non è verificato.',
  'access.returns_to': 'Torna a',
  'access.local_warning':
    'Un programma su questo computer otterrà l’accesso e il suo nome non può essere verificato. Consentilo solo se hai appena avviato tu questo accesso.',
  'access.scopes': 'Che cosa potrà fare',
  'access.see_tools': 'Vedere quali strumenti ci sono per {providers}',
  'access.see_own_tools': 'Vedere quali strumenti ci sono per i tuoi account',
  'access.use_tools': 'Usare questi strumenti con i tuoi account: leggere, creare, modificare ed eliminare dati',
  'access.allow': 'Consenti',
  'access.cancel': 'Annulla',
  'access.not_you':
    'Non sei {identifier} o non ti aspettavi questa richiesta? Scegli «Annulla». Non verrà condiviso nulla.',
  'login.over_title': 'Questo accesso non è valido',
  'login.over_text':
    'Un accesso vale una volta, per poco tempo e solo nel browser in cui è iniziato. Ricomincia dalla tua applicazione.',
  'login.bad_title': 'L’applicazione non può farti accedere',

  // Requests that cannot be served
  'error.title': 'C’è un problema con questa richiesta',
  'error.not_found': 'La pagina non esiste.',
  'error.method': 'La pagina non accetta questo tipo di richiesta.',
  'error.too_many': 'Troppe richieste dal tuo indirizzo.',
  'error.host': 'Sotto questo nome host non è offerto nulla.',
  'error.other': 'Non è stato possibile comprendere la richiesta.',
};
