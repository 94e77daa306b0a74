/**
 * The texts of pages for users, and the model for every other language: same keys, same placeholders. A message with
 * plural forms has one text per category of `Intl.PluralRules`.
 */
export const en = {
  // Header and footer of every page
  'brand.keeps_safe': '{application} uses Valetkey to keep this safe.',
  'brand.kept_safe': 'Kept safe by Valetkey.',
  'brand.support': 'Support',
  'brand.privacy': 'Privacy',
  'brand.terms': 'Terms',
  'brand.back': 'Back to {application}',
  'brand.back_unnamed': 'Back to the application',

  // The page of a link
  'link.title': 'Connect {provider}',
  'link.title_with_problems': 'Error: Connect {provider}',
  'link.asks': '{application} asks for access to your {provider} account.',
  'link.account': 'For',
  'link.address': 'At',
  'link.scopes': 'What {application} will be able to do',
  'link.scopes_unknown': 'The next page says what you share.',
  'link.scopes_read': 'Read',
  'link.scopes_write': 'Create and change',
  'link.scopes_delete': 'Delete',
  'link.can_delete': 'can delete data',
  'link.continue': 'Continue to {provider}',
  'link.connect': 'Connect',
  'link.cancel': 'Cancel',
  'link.consent_note':
    'You sign in at {provider}. We never see your {provider} password. You can revoke access in {provider} at any time.',
  'link.form_note': 'What you type is stored encrypted and only used to reach your account.',
  'link.key_page': 'Get it from {provider}',
  'link.new_tab': '(opens in a new tab)',
  'link.not_you': 'Not {identifier}, or not expecting this? Choose Cancel or close this page. Nothing will be shared.',
  'link.minutes_left': {
    one: 'This link works for one more minute.',
    other: 'This link works for {count} more minutes.',
  },

  // Fields and what is wrong with them
  'field.optional': '(optional)',
  'field.show': 'Show',
  'field.hide': 'Hide',
  'field.paste': 'Paste',
  'field.choose': 'Choose',
  'problem.summary': {
    one: 'Please correct this:',
    other: 'Please correct these {count} fields:',
  },
  'problem.required': '{field} is required.',
  'problem.format': '{field} has an invalid format.',
  'problem.choice': '{field} is not one of the choices.',
  'problem.too_long': '{field} is too long.',
  'problem.control': '{field} contains characters that cannot be seen. Copy it again.',
  'problem.address': '{field} is not an allowed address.',
  'problem.not_accepted': '{provider} did not accept this {field}. Check that you copied all of it.',

  // The token in the address of a page
  'token.title': 'Finish connecting {provider}',
  'token.heading': 'One step is left',
  'token.text':
    '{provider} has put your token at the end of the address of this page. If the page does not continue by itself, copy it from there into this field.',
  'token.label': 'Token from {provider}',
  'token.hint': 'Everything in the address of this page that comes after the character #.',
  'token.note': 'Do not share the address of this page: it contains your token.',
  'token.required': 'Please fill in the field below.',

  // Results
  'connected.title': 'Connected',
  'connected.text': 'The account is connected. You can close this page.',
  'waiting.title': 'One more step',
  'waiting.text': 'Return to {application} to finish.',
  'waiting.text_unnamed': 'Return to the application that sent you here to finish.',
  'used.title': 'Already used',
  'used.text': 'This link has been used. You can close this page.',
  'expired.title': 'This link has expired',
  'expired.text': 'Links work for a short time. Ask for a new one where you got this one.',
  'stray.title': 'This sign-in has expired',
  'stray.text': 'Open your link again in this browser. Nothing was shared.',
  'stale.title': 'Please open the link again',
  'stale.text':
    'The page was open for too long, or this browser keeps no cookies. Cookies are needed to bring you back safely.',
  'refused.title': 'Not connected',
  'refused.text': "You declined, or your organization's policy at {provider} does not allow it. Nothing was shared.",
  'fault.title': 'Something went wrong',
  'fault.text': 'The account was not connected. Please try again in a moment.',
  'fault.unreachable': '{provider} could not be reached. Nothing was stored. Please try again in a moment.',
  'result.try_again': 'Try again',
  'result.reference': 'Reference for support:',

  // The page on which a user lets an application use their accounts
  'access.title': 'Allow access?',
  'access.unnamed': 'An application without a name',
  'access.asks': '{client} asks for access to your accounts.',
  'access.account': 'Logged in as',
  'access.client': 'Application',
  'access.published_by': 'Published by {host}',
  'access.registered': 'Registered by your administrator',
  'access.unverified': 'Registered itself. Its name is not verified.',
  'access.returns_to': 'Returns to',
  'access.local_warning':
    'A program on this computer will get access, and its name cannot be verified. Allow it only if you have just started this login yourself.',
  'access.scopes': 'What it will be able to do',
  'access.see_tools': 'See which tools there are for {providers}',
  'access.see_own_tools': 'See which tools there are for your accounts',
  'access.use_tools': 'Use these tools with your accounts: read, create, change and delete data there',
  'access.allow': 'Allow',
  'access.cancel': 'Cancel',
  'access.not_you': 'Not {identifier}, or not expecting this? Choose Cancel. Nothing will be shared.',
  'login.over_title': 'This login is not valid',
  'login.over_text':
    'Logins work once, for a short time, and only in the browser in which they began. Start again in your application.',
  'login.bad_title': 'The application cannot log you in',

  // Requests that cannot be served
  'error.title': 'Something is wrong with this request',
  'error.not_found': 'The page does not exist.',
  'error.method': 'The page does not support this kind of request.',
  'error.too_many': 'Too many requests from your address.',
  'error.host': 'Nothing is served under this host name.',
  'error.other': 'The request could not be understood.',
} as const;
