import { STATIC_AUTH } from './forms.ts';
import type { AuthorizationModule, Values } from './module.ts';
import { incomplete, mainPart } from './placing.ts';

/** User name and password (RFC 7617). */
export const basic: AuthorizationModule = {
  connectionType: 'BASIC',
  forms: [STATIC_AUTH],
  entered: {
    fields: [
      { field_name: 'username', label: 'User name', input_type: 'text', required: true },
      { field_name: 'password', label: 'Password', input_type: 'password', required: true },
    ],
    // If the pattern has no password field, the user name contains the secret.
    secretNames: (fields) => [fields.some((field) => field.field_name === 'password') ? 'password' : 'username'],
    reservedNames: ['username', 'password'],
    // RFC 7617 §2: the first colon separates user name and password, so the user name must not contain one.
    problemOf: (name, value) => (name === 'username' && value.includes(':') ? 'must not contain a colon' : undefined),
    place: (pattern, _fields, values) => [mainPart(pattern, userAndPassword(values), pattern.auth_scheme ?? 'Basic')],
  },
};

function userAndPassword(values: Values): string {
  const user = values('username');
  const password = values('password');
  // RFC 7617 §2: the provider would read a user name with a colon as a shorter user name.
  if (user.includes(':')) throw incomplete('The username has a colon, so it cannot be sent by Basic authentication');
  if (user === '' && password === '') throw incomplete('The account has neither user name nor password');
  return Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
}
