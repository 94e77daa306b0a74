import type { JsonObject } from './merge.ts';

/** The contract's `authorization_details`: one object, under the name of its form, or no object. */
export type Details = { oauth_token?: JsonObject; static_auth?: JsonObject; [form: string]: JsonObject | undefined };
