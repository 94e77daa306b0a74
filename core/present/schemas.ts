import type { $Read, $Write, components } from '../../generated/api.d.ts';

/**
 * The type of a value in responses: without write-only members. The generated `Readable` type is not used, because it
 * turns the schema of an empty object into a type that accepts every object, and a union with it into a type that
 * accepts every member. Here, types with arbitrary keys (records) are not changed.
 */
export type ResponseValue<T> =
  T extends $Write<unknown>
    ? never
    : T extends $Read<infer U>
      ? ResponseValue<U>
      : T extends (infer E)[]
        ? ResponseValue<E>[]
        : T extends object
          ? string extends keyof T
            ? T
            : { [K in keyof T as NonNullable<T[K]> extends $Write<unknown> ? never : K]: ResponseValue<T[K]> }
          : T;

/** The schemas of the contract as they are in responses and events. */
export type Schemas = { [Name in keyof components['schemas']]: ResponseValue<components['schemas'][Name]> };
