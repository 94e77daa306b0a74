import type { CreateLinkDeps } from '../accounts/links/create-link.ts';
import type { VerifyDeps } from '../accounts/links/verify.ts';

/** The dependencies of the API operations that create and verify links, with which users connect accounts. */
export type Links = CreateLinkDeps & VerifyDeps;
