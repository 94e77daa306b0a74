import type { JsonObject } from './merge.ts';

/**
 * The contract's `authorization_details`: an object with at most one member, which is named after the form of the
 * credentials.
 */
export type Details = { oauth_token?: JsonObject; static_auth?: JsonObject; [form: string]: JsonObject | undefined };
