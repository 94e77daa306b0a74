/** The parts that the tests use of a package that has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  interface Model {
    save(): Promise<string>;
  }

  interface GrantModel extends Model {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
  }

  interface Served {
    path: string;
    oidc?: { body?: Record<string, string> };
    body: unknown;
  }

  export const errors: { InvalidRequest: new (message: string) => Error; InvalidTarget: new () => Error };

  interface Interaction {
    prompt: { name: string; details: { missingResourceScopes?: Record<string, string[]> } };
    params: Record<string, string | undefined>;
    grantId?: string;
    session?: { accountId: string };
  }

  // biome-ignore lint/style/noDefaultExport: it is how the package exports it
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>;
    interactionFinished(
      req: IncomingMessage,
      res: ServerResponse,
      result: object,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<void>;
    proxy: boolean;
    use(middleware: (context: Served, next: () => Promise<void>) => Promise<void>): void;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly Grant: (new (properties: object) => GrantModel) & { find(id: string): Promise<GrantModel | undefined> };
    readonly RefreshToken: (new (
      properties: object,
    ) => Model) & { find(token: string): Promise<{ consumed?: number } | undefined> };
    readonly AccessToken: { find(token: string): Promise<object | undefined> };
    readonly ClientCredentials: { find(token: string): Promise<{ destroy(): Promise<void> } | undefined> };
  }
}
