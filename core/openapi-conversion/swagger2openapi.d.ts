/** Types for the part of the package that is used here. The package has no types. */
declare module 'swagger2openapi' {
  interface Options {
    /** Whether to repair errors of the document where that is possible, instead of failing. */
    patch: boolean;
    warnOnly: boolean;
    /** Fetch the targets of references. Never enable it for untrusted documents. */
    resolve: boolean;
  }

  export function convertObj(document: object, options: Options): Promise<{ openapi: Record<string, unknown> }>;
}
