// The daemon's folders and files: nobody else's to read, written whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flexrack::server {

/// Makes a folder 0700 where there is none. Throws std::runtime_error when it is not a folder, not ours, or open to
/// others and cannot be closed.
void make_private_folder(const std::string& path);

/// Where the sockets and the shared files of that root lie: the root's own `run`, or, where a socket's path would be
/// too long for the kernel or the root is on a network, a folder under XDG_RUNTIME_DIR or /tmp named after it. Made
/// 0700.
std::string make_runtime_folder(const std::string& root);

/// Removes what make_runtime_folder has made, with the sockets and shared files in it: for a broker that ends and
/// leaves neither leases nor workers, while it has the root's lock. What is not ours, or has none of our names, stays.
void remove_runtime_folder(const std::string& folder);

/// Replaces a file whole, mode 0600, on disk before the name changes. Throws std::system_error.
void replace_file(const std::string& path, std::string_view content);

/// A file of ours that nobody else can read or write, at most 16 MiB. Nothing where there is none. Throws
/// std::runtime_error on any other.
std::optional<std::string> read_private_file(const std::string& path);

}  // namespace flexrack::server
