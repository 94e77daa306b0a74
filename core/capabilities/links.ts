import type { CreateLinkDeps } from '../accounts/links/create-link.ts';
import type { VerifyDeps } from '../accounts/links/verify.ts';

/** Links by which users connect accounts. */
export type Links = CreateLinkDeps & VerifyDeps;
