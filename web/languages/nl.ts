import type { Messages } from './messages.ts';

/** Dutch. */
export const nl: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} gebruikt Valetkey om dit veilig te houden.',
  'brand.kept_safe': 'Beveiligd door Valetkey.',
  'brand.support': 'Hulp',
  'brand.privacy': 'Privacybeleid',
  'brand.terms': 'Voorwaarden',
  'brand.back': 'Terug naar {application}',
  'brand.back_unnamed': 'Terug naar de applicatie',

  // The page of a link
  'link.title': '{provider} koppelen',
  'link.title_with_problems': 'Fout: {provider} koppelen',
  'link.asks': '{application} vraagt toegang tot uw account bij {provider}.',
  'link.account': 'Voor',
  'link.address': 'Bij',
  'link.scopes': 'Wat {application} kan doen',
  'link.scopes_unknown': 'Op de volgende pagina staat wat u deelt.',
  'link.scopes_read': 'Lezen',
  'link.scopes_write': 'Aanmaken en wijzigen',
  'link.scopes_delete': 'Verwijderen',
  'link.can_delete': 'kan gegevens verwijderen',
  'link.continue': 'Verder naar {provider}',
  'link.connect': 'Koppelen',
  'link.cancel': 'Annuleren',
  'link.consent_note':
    'U meldt zich aan bij {provider}. Wij zien uw wachtwoord voor {provider} nooit. U kunt de toegang in {provider} altijd intrekken.',
  'link.form_note': 'Wat u invult, wordt versleuteld opgeslagen en alleen gebruikt om uw account te bereiken.',
  'link.key_page': 'Ophalen bij {provider}',
  'link.new_tab': '(opent in een nieuw tabblad)',
  'link.not_you':
    'Bent u niet {identifier} of verwachtte u dit niet? Kies ‘Annuleren’ of sluit deze pagina. Er wordt niets gedeeld.',
  'link.minutes_left': {
    one: 'Deze link werkt nog één minuut.',
    other: 'Deze link werkt nog {count} minuten.',
  },

  // Fields and what is wrong with them
  'field.optional': '(optioneel)',
  'field.show': 'Tonen',
  'field.hide': 'Verbergen',
  'field.paste': 'Plakken',
  'field.choose': 'Kies',
  'problem.summary': {
    one: 'Corrigeer het volgende:',
    other: 'Corrigeer deze {count} velden:',
  },
  'problem.required': '{field} is verplicht.',
  'problem.format': '{field} heeft een ongeldige notatie.',
  'problem.choice': '{field} is geen van de keuzes.',
  'problem.too_long': '{field} is te lang.',
  'problem.control': '{field} bevat onzichtbare tekens. Kopieer de waarde opnieuw.',
  'problem.address': '{field} is geen toegestaan adres.',
  'problem.not_accepted':
    '{provider} heeft deze waarde niet geaccepteerd: {field}. Controleer of u alles hebt gekopieerd.',

  // The token in the address of a page
  'token.title': 'Koppeling met {provider} afronden',
  'token.heading': 'Nog één stap',
  'token.text':
    '{provider} heeft uw token aan het eind van het adres van deze pagina gezet. Gaat de pagina niet vanzelf verder, kopieer het dan van daar naar dit veld.',
  'token.label': 'Token van {provider}',
  'token.hint': 'Alles wat in het adres van deze pagina na het teken # komt.',
  'token.note': 'Deel het adres van deze pagina niet: het bevat uw token.',
  'token.required': 'Vul het onderstaande veld in.',

  // Results
  'connected.title': 'Gekoppeld',
  'connected.text': 'Het account is gekoppeld. U kunt deze pagina sluiten.',
  'waiting.title': 'Nog één stap',
  'waiting.text': 'Ga terug naar {application} om af te ronden.',
  'waiting.text_unnamed': 'Ga terug naar de applicatie die u hierheen heeft gestuurd om af te ronden.',
  'used.title': 'Al gebruikt',
  'used.text': 'Deze link is al gebruikt. U kunt deze pagina sluiten.',
  'expired.title': 'Deze link is verlopen',
  'expired.text': 'Links werken maar kort. Vraag een nieuwe aan op de plek waar u deze hebt gekregen.',
  'stray.title': 'Deze aanmelding is verlopen',
  'stray.text': 'Open uw link opnieuw in deze browser. Er is niets gedeeld.',
  'stale.title': 'Open de link opnieuw',
  'stale.text':
    'De pagina stond te lang open, of deze browser bewaart geen cookies. Cookies zijn nodig om u veilig terug te brengen.',
  'refused.title': 'Niet gekoppeld',
  'refused.text':
    'U hebt geweigerd, of het beleid van uw organisatie bij {provider} staat het niet toe. Er is niets gedeeld.',
  'fault.title': 'Er is iets misgegaan',
  'fault.text': 'Het account is niet gekoppeld. Probeer het zo meteen opnieuw.',
  'fault.unreachable': '{provider} was niet bereikbaar. Er is niets opgeslagen. Probeer het zo meteen opnieuw.',
  'result.try_again': 'Opnieuw proberen',
  'result.reference': 'Kenmerk voor hulp:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Toegang toestaan?',
  'access.unnamed': 'Een applicatie zonder naam',
  'access.asks': '{client} vraagt toegang tot uw accounts.',
  'access.account': 'Aangemeld als',
  'access.client': 'Applicatie',
  'access.published_by': 'Gepubliceerd door {host}',
  'access.registered': 'Geregistreerd door uw beheerder',
  'access.unverified': 'Heeft zichzelf geregistreerd. De naam is niet gecontroleerd.',
  'access.returns_to': 'Keert terug naar',
  'access.local_warning':
    'Een programma op deze computer krijgt toegang en de naam ervan kan niet worden gecontroleerd. Sta dit alleen toe als u deze aanmelding zojuist zelf bent begonnen.',
  'access.scopes': 'Wat deze kan doen',
  'access.see_tools': 'Zien welke tools er zijn voor {providers}',
  'access.see_own_tools': 'Zien welke tools er zijn voor uw accounts',
  'access.use_tools': 'Deze tools met uw accounts gebruiken: daar gegevens lezen, aanmaken, wijzigen en verwijderen',
  'access.allow': 'Toestaan',
  'access.cancel': 'Annuleren',
  'access.not_you': 'Bent u niet {identifier} of verwachtte u dit niet? Kies ‘Annuleren’. Er wordt niets gedeeld.',
  'login.over_title': 'Deze aanmelding is niet geldig',
  'login.over_text':
    'Een aanmelding werkt één keer, korte tijd en alleen in de browser waarin ze is begonnen. Begin opnieuw in uw applicatie.',
  'login.bad_title': 'De applicatie kan u niet aanmelden',

  // Requests that cannot be served
  'error.title': 'Er klopt iets niet aan dit verzoek',
  'error.not_found': 'De pagina bestaat niet.',
  'error.method': 'De pagina ondersteunt dit soort verzoek niet.',
  'error.too_many': 'Te veel verzoeken vanaf uw adres.',
  'error.host': 'Onder deze hostnaam wordt niets aangeboden.',
  'error.other': 'Het verzoek was niet te begrijpen.',
};
