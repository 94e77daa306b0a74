import type { en } from './en.ts';

/** The forms of a message that depends on a number. `Intl.PluralRules` defines which forms a language needs. */
export type Plural = { readonly other: string } & { readonly [category in Intl.LDMLPluralRule]?: string };

export type MessageKey = keyof typeof en;

/** The texts of one language. */
export type Messages = { readonly [K in MessageKey]: (typeof en)[K] extends string ? string : Plural };

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Texts<Message> = Message extends string ? Message : Message[keyof Message];

/** The names of a message's placeholders. */
export type Placeholder<K extends MessageKey> = Names<Texts<(typeof en)[K]>>;
