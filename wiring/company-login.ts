import type { CompanyLogin } from '../core/operators/company-login.ts';
import type { Setup } from './setup.ts';

/** Returns the OpenID provider at which operators log in, and this server's client there; null if none is set. */
export function createCompanyLogin({ config, secrets }: Pick<Setup, 'config' | 'secrets'>): CompanyLogin | null {
  if (!config.companyLogin) return null;
  const { clientId, ...login } = config.companyLogin;
  const { companyLogin: secret } = secrets;
  return { ...login, client: { clientId, method: secret === null ? 'none' : 'client_secret_basic', secret } };
}
