/** Types for the part of the package that is used here. The package has no types. */
declare module 'swagger2openapi' {
  interface Options {
    /** Repair the document if possible; otherwise report an error. */
    patch: boolean;
    warnOnly: boolean;
    /** Fetch the targets of references. Never enable it for untrusted documents. */
    resolve: boolean;
  }

  export function convertObj(document: object, options: Options): Promise<{ openapi: Record<string, unknown> }>;
}
