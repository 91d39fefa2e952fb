/** Tells password managers whose password a form asks for, where the form itself has no field for the address. */
export function AccountName({ email }: { email: string }) {
  return (
    <input
      className="stoa-hidden"
      type="text"
      autoComplete="username"
      value={email}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}
