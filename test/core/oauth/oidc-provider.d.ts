/** The little that the tests use of a package which brings no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  interface Model {
    save(): Promise<string>;
  }

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly Grant: new (
      properties: object,
    ) => Model & { addOIDCScope(scope: string): void };
    readonly RefreshToken: (new (
      properties: object,
    ) => Model) & { find(token: string): Promise<{ consumed?: number } | undefined> };
    readonly AccessToken: { find(token: string): Promise<object | undefined> };
  }
}
