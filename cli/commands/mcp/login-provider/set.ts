import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '../../../../generated/api.d.ts';
import { openApi, resultOf } from '../../../api/client.ts';
import { withServer } from '../../../api/options.ts';
import { readSecret, SECRET_FILE, SECRET_PROMPT } from '../../../api/secret-input.ts';
import { repeated } from '../../../options.ts';
import { examples, printResult } from '../../../output/print.ts';
import { UsageError } from '../../../usage-error.ts';
import { describeProvider } from './describe-provider.ts';

type Input = components['schemas']['SetMcpLoginProviderRequest'];

const METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

/** `valetkey mcp login-provider set`: replaces the provider that identifies the users of MCP clients. */
export function configure(command: Command): void {
  withServer(
    command
      .addOption(
        new Option('--type <type>', 'OIDC: an OpenID provider; JWT: an external authorization server')
          .choices(['OIDC', 'JWT'] as const)
          .makeOptionMandatory(),
      )
      .requiredOption('--issuer <address>', 'the issuer, exactly as in its metadata and tokens')
      .option(
        '--client-id <id>',
        'OIDC: the client that you registered there; JWT: a client whose tokens are accepted; can be repeated',
        repeated,
      )
      .addOption(SECRET_PROMPT)
      .addOption(SECRET_FILE)
      .addOption(new Option('--auth-method <method>', 'OIDC: how the client authenticates').choices(METHODS))
      .option('--audience <audience>', 'JWT: a further audience of tokens; can be repeated', repeated)
      .addOption(new Option('--algorithm <names...>', 'JWT: accepted signature algorithms').choices(ALGORITHMS))
      .option('--scope <scope>', 'a scope to request; can be repeated', repeated)
      .option('--identifier-claim <name>', 'the claim for the identifier; by default sub')
      .option('--user-claim <name>', 'the claim for the user; by default sub; an empty value if accounts have none')
      .option('--organization-claim <name>', 'the claim for the organization, such as tid')
      .option(
        '--organization <value>',
        'an organization whose users may log in; by default all; can be repeated',
        repeated,
      )
      .option('--user-verify-url <address>', 'where users return after connecting a missing account'),
  )
    .addHelpText(
      'after',
      examples(
        'mcp login-provider set --type OIDC --issuer https://acme.okta.com --client-id 0oa1 --client-secret-file secret.txt',
        'mcp login-provider set --type JWT --issuer https://login.acme.test --audience https://keys.acme.test',
      ),
    )
    .action(async (options) => {
      const {
        type,
        issuer,
        clientId = [],
        authMethod,
        audience,
        algorithm,
        scope,
        organization,
        userVerifyUrl,
      } = options;
      const claims = {
        ...(options.identifierClaim && { identifier: options.identifierClaim }),
        ...(options.userClaim !== undefined && { user_id: options.userClaim || null }),
        ...(options.organizationClaim && { organization_id: options.organizationClaim }),
      };
      const common = {
        issuer,
        claims,
        ...(scope && { scopes: scope }),
        ...(organization && { allowed_organizations: organization }),
        ...(userVerifyUrl && { user_verify_url: userVerifyUrl }),
      };
      const secret = await readSecret(options);
      const jwtOnly = audience ?? algorithm;
      let body: Input;
      if (type === 'OIDC') {
        const [client_id, ...others] = clientId;
        if (client_id === undefined || others.length > 0)
          throw new UsageError('give exactly one --client-id with --type OIDC');
        if (jwtOnly) throw new UsageError('--audience and --algorithm can only be given with --type JWT');
        const client_secret = secret?.reveal();
        body = {
          ...common,
          type,
          client_id,
          ...(client_secret !== undefined && { client_secret }),
          ...(authMethod && { token_endpoint_auth_method: authMethod }),
        };
      } else {
        if (secret || authMethod)
          throw new UsageError('--client-secret and --auth-method can only be given with --type OIDC');
        body = {
          ...common,
          type,
          ...(audience && { audiences: audience }),
          ...(clientId.length > 0 && { client_ids: clientId }),
          ...(algorithm && { algorithms: algorithm }),
        };
      }
      const { login_provider } = await resultOf(openApi(options).PUT('/api/v1/mcp/login_provider', { body }));
      printResult(options, login_provider, () => describeProvider(login_provider));
    });
}
