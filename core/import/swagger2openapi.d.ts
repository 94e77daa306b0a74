/** The little that is used of a package which brings no types. */
declare module 'swagger2openapi' {
  interface Options {
    /** Repair what can be repaired, and continue otherwise. */
    patch: boolean;
    warnOnly: boolean;
    /** Fetch and read what references name; never for documents of strangers. */
    resolve: boolean;
  }

  export function convertObj(document: object, options: Options): Promise<{ openapi: Record<string, unknown> }>;
}
