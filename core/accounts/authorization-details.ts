import type { JsonObject } from './merge.ts';

/**
 * The contract's `authorization_details`: an object with at most one member. The name of the member is the form of the
 * credentials, for example `static_auth` for fields that a user enters.
 */
export type Details = { oauth_token?: JsonObject; static_auth?: JsonObject; [form: string]: JsonObject | undefined };
