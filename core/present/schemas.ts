import type { $Read, $Write, components } from '../../generated/api.d.ts';

/**
 * A value as a response carries it: without write-only members. The generated `Readable` turns a schema for the empty object into a
 * type that accepts every object, and a union with one into a type that accepts every member; records stay as they are here.
 */
export type Answered<T> =
  T extends $Write<unknown>
    ? never
    : T extends $Read<infer U>
      ? Answered<U>
      : T extends (infer E)[]
        ? Answered<E>[]
        : T extends object
          ? string extends keyof T
            ? T
            : { [K in keyof T as NonNullable<T[K]> extends $Write<unknown> ? never : K]: Answered<T[K]> }
          : T;

/** The schemas of the contract, as responses and events carry them. */
export type Schemas = { [Name in keyof components['schemas']]: Answered<components['schemas'][Name]> };
