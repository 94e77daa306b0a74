import type { Messages } from './messages.ts';

/** French. */
export const fr: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} utilise Valetkey pour protéger cet accès.',
  'brand.kept_safe': 'Protégé par Valetkey.',
  'brand.support': 'Assistance',
  'brand.privacy': 'Confidentialité',
  'brand.terms': 'Conditions d’utilisation',
  'brand.back': 'Retour à {application}',
  'brand.back_unnamed': 'Retour à l’application',

  // The page of a link
  'link.title': 'Connecter {provider}',
  'link.title_with_problems': 'Erreur : connecter {provider}',
  'link.asks': '{application} demande l’accès à votre compte {provider}.',
  'link.account': 'Pour',
  'link.address': 'Adresse',
  'link.scopes': 'Ce que {application} pourra faire',
  'link.scopes_unknown': 'La page suivante indique ce que vous partagez.',
  'link.scopes_read': 'Lire',
  'link.scopes_write': 'Créer et modifier',
  'link.scopes_delete': 'Supprimer',
  'link.can_delete': 'peut supprimer des données',
  'link.continue': 'Continuer vers {provider}',
  'link.connect': 'Connecter',
  'link.cancel': 'Annuler',
  'link.consent_note':
    'Vous vous connectez sur {provider}. Nous ne voyons jamais votre mot de passe {provider}. Vous pouvez révoquer l’accès dans {provider} à tout moment.',
  'link.form_note': 'Votre saisie est enregistrée sous forme chiffrée et ne sert qu’à accéder à votre compte.',
  'link.key_page': 'L’obtenir auprès de {provider}',
  'link.new_tab': '(s’ouvre dans un nouvel onglet)',
  'link.not_you':
    'Vous n’êtes pas {identifier}, ou vous ne vous attendiez pas à cette demande ? Choisissez « Annuler » ou fermez cette page. Rien ne sera partagé.',
  'link.minutes_left': {
    one: 'Ce lien est valable encore {count} minute.',
    many: 'Ce lien est valable encore {count} de minutes.',
    other: 'Ce lien est valable encore {count} minutes.',
  },

  // Fields and what is wrong with them
  'field.optional': '(facultatif)',
  'field.show': 'Afficher',
  'field.hide': 'Masquer',
  'field.paste': 'Coller',
  'field.choose': 'Choisir',
  'problem.summary': {
    one: 'Veuillez corriger ceci :',
    many: 'Veuillez corriger ces {count} de champs :',
    other: 'Veuillez corriger ces {count} champs :',
  },
  'problem.required': '{field} : ce champ est obligatoire.',
  'problem.format': '{field} : le format n’est pas valide.',
  'problem.choice': '{field} : cette valeur ne fait pas partie des choix.',
  'problem.too_long': '{field} : la valeur est trop longue.',
  'problem.control': '{field} : la valeur contient des caractères invisibles. Copiez-la de nouveau.',
  'problem.address': '{field} : cette adresse n’est pas autorisée.',
  'problem.not_accepted':
    '{provider} n’a pas accepté cette valeur : {field}. Vérifiez que vous l’avez copiée en entier.',

  // The token in the address of a page
  'token.title': 'Terminer la connexion à {provider}',
  'token.heading': 'Encore une étape',
  'token.text':
    '{provider} a placé votre jeton à la fin de l’adresse de cette page. Si la page ne continue pas d’elle-même, copiez-le de là dans ce champ.',
  'token.label': 'Jeton de {provider}',
  'token.hint': 'Tout ce qui suit le caractère # dans l’adresse de cette page.',
  'token.note': 'Ne communiquez pas l’adresse de cette page : elle contient votre jeton.',
  'token.required': 'Veuillez remplir le champ ci-dessous.',

  // Results
  'connected.title': 'Connecté',
  'connected.text': 'Le compte est connecté. Vous pouvez fermer cette page.',
  'waiting.title': 'Encore une étape',
  'waiting.text': 'Revenez à {application} pour terminer.',
  'waiting.text_unnamed': 'Revenez à l’application qui vous a envoyé ici pour terminer.',
  'used.title': 'Déjà utilisé',
  'used.text': 'Ce lien a déjà été utilisé. Vous pouvez fermer cette page.',
  'expired.title': 'Ce lien a expiré',
  'expired.text':
    'Les liens ne sont valables que peu de temps. Demandez-en un nouveau là où vous avez obtenu celui-ci.',
  'stray.title': 'Cette connexion a expiré',
  'stray.text': 'Ouvrez de nouveau votre lien dans ce navigateur. Rien n’a été partagé.',
  'stale.title': 'Veuillez ouvrir le lien de nouveau',
  'stale.text':
    'La page est restée ouverte trop longtemps, ou ce navigateur ne conserve pas les cookies. Ils sont nécessaires pour vous ramener ici en toute sécurité.',
  'refused.title': 'Non connecté',
  'refused.text':
    'Vous avez refusé, ou une règle de votre organisation chez {provider} ne le permet pas. Rien n’a été partagé.',
  'fault.title': 'Une erreur s’est produite',
  'fault.text': 'Le compte n’a pas été connecté. Veuillez réessayer dans un instant.',
  'fault.unreachable': '{provider} n’a pas pu être joint. Rien n’a été enregistré. Veuillez réessayer dans un instant.',
  'result.try_again': 'Réessayer',
  'result.reference': 'Référence pour l’assistance :',

  // The page on which a user lets an application use their accounts
  'access.title': 'Autoriser l’accès ?',
  'access.unnamed': 'Une application sans nom',
  'access.asks': '{client} demande l’accès à vos comptes.',
  'access.account': 'Connecté en tant que',
  'access.client': 'Application cliente',
  'access.published_by': 'Publiée par {host}',
  'access.registered': 'Enregistrée par votre administrateur',
  'access.unverified': 'Enregistrée par elle-même. Son nom n’est pas vérifié.',
  'access.returns_to': 'Renvoie vers',
  'access.local_warning':
    'Un programme de cet ordinateur obtiendra l’accès, et son nom ne peut pas être vérifié. N’autorisez que si vous venez de lancer vous-même cette connexion.',
  'access.scopes': 'Ce qu’elle pourra faire',
  'access.see_tools': 'Voir les outils disponibles pour {providers}',
  'access.see_own_tools': 'Voir les outils disponibles pour vos comptes',
  'access.use_tools': 'Utiliser ces outils avec vos comptes : y lire, créer, modifier et supprimer des données',
  'access.allow': 'Autoriser',
  'access.cancel': 'Annuler',
  'access.not_you':
    'Vous n’êtes pas {identifier}, ou vous ne vous attendiez pas à cette demande ? Choisissez « Annuler ». Rien ne sera partagé.',
  'login.over_title': 'Cette connexion n’est pas valide',
  'login.over_text':
    'Une connexion ne fonctionne qu’une fois, pendant peu de temps, et seulement dans le navigateur où elle a commencé. Recommencez dans votre application.',
  'login.bad_title': 'L’application ne peut pas vous connecter',

  // Requests that cannot be served
  'error.title': 'Cette requête pose problème',
  'error.not_found': 'La page n’existe pas.',
  'error.method': 'La page n’accepte pas ce type de requête.',
  'error.too_many': 'Trop de requêtes depuis votre adresse.',
  'error.host': 'Rien n’est proposé sous ce nom d’hôte.',
  'error.other': 'La requête n’a pas pu être comprise.',
};
