import { OAUTH_TOKEN, STATIC_AUTH } from '../../core/authorization/forms.ts';
import type { AuthorizationModule } from '../../core/authorization/module.ts';
import { placed } from '../../core/authorization/placing.ts';
import { MASK } from '../../core/secret.ts';

/**
 * An authorization type that is not in the contract: a user enters a key pair, Valetkey exchanges it for a short-lived
 * ticket, and requests contain the ticket in a separate header.
 */
export const ticket: AuthorizationModule = {
  connectionType: 'API_KEY',
  forms: [STATIC_AUTH, OAUTH_TOKEN],
  entered: {
    fields: [
      { field_name: 'client_id', label: 'Key id', input_type: 'text', required: true },
      { field_name: 'client_secret', label: 'Key secret', input_type: 'password', required: true },
    ],
    secretNames: () => ['client_secret'],
    problemOf: (name, value) => (name === 'client_id' && value.includes('/') ? 'must not contain a slash' : undefined),
  },
  placeToken: (_pattern, { accessToken }) => {
    const value = accessToken.reveal();
    return placed([{ in: 'header', name: 'X-Ticket', value, masked: MASK }], [value]);
  },
  obtainingOf: () => (setting) => {
    const url = new URL(setting.pattern.oauth_config?.token_uri ?? '');
    setting.requireDestination({ origin: url.origin });
    const entered = setting.given.static_auth?.['details'];
    return {
      origin: url.origin,
      async send(fetch, now) {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(entered) });
        if (!response.ok) return { ok: false, kind: 'refused', message: 'The key pair was refused.' };
        const { ticket: text, seconds } = (await response.json()) as { ticket: string; seconds: number };
        const temporary = { oauth_token: { access_token: text, scopes: [] } };
        const store = (given: object) => ({ given: { ...given }, temporary });
        return { ok: true, obtained: { expiresAt: now() + seconds * 1000, store, tokens: null } };
      },
    };
  },
};
