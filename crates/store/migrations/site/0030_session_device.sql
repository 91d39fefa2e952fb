-- In which browser a member's session began, in our words (`Firefox · Linux`), and the network address that it came from.
-- Nothing for sessions of before, and for those that no browser on the account pages began.
alter table stoa.session add column device {text};
alter table stoa.session add column address {text};
