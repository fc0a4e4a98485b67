'use client';
import { useWhoAmI } from '../../../../src/api/use-who-am-i';
import { SignInProviderPanel } from '../../../../src/organization/sign-in-provider-panel';
import { Loaded } from '../../../../src/shared/loaded';

/** How users sign in to the organization. */
export default function SignInSettingsPage() {
  const who = useWhoAmI();
  return (
    <Loaded query={who} what="the organization">
      {({ organizationId, organizationName }) => (
        <SignInProviderPanel organizationId={organizationId} organizationName={organizationName} />
      )}
    </Loaded>
  );
}
