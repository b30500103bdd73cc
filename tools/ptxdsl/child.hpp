// SPDX-License-Identifier: Apache-2.0
// Child processes, and the moment from which there shall be none any more.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

namespace tool {

/// The children that run now. `end` kills them and lets no other begin.
class children {
public:
    /// For `end` to reach what children start (a compiler has children of its own), each heads a process group. Not
    /// otherwise: the terminal's interrupt goes to one group.
    void make_groups() { groups_ = true; }

    /// Starts a program; 0 when it cannot.
    [[nodiscard]] pid_t start(const posix_spawn_file_actions_t& actions, char* const* argv) {
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        if (groups_) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        pid_t child = 0;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (ended_ || posix_spawn(&child, argv[0], &actions, &attributes, argv, environ) != 0) child = 0;
            if (child != 0) running_.push_back(child);
        }
        posix_spawnattr_destroy(&attributes);
        return child;
    }
    /// The exit status, or -1. A child leaves the list before its number can be another's.
    [[nodiscard]] int wait(pid_t child) {
        siginfo_t ignored;
        while (waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) < 0)
            if (errno != EINTR) return -1;
        const std::lock_guard<std::mutex> lock(mutex_);
        running_.erase(std::find(running_.begin(), running_.end(), child));
        int status = 0;
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR) return -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void end() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ended_ = true;
        for (pid_t child : running_) kill(groups_ ? -child : child, SIGKILL);
    }
    [[nodiscard]] bool ended() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return ended_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<pid_t> running_;
    bool groups_ = false, ended_ = false;
};

inline children& all_children() {
    static children all;
    return all;
}

/// Runs a program in `directory` with its output in `log`; its exit status, or -1.
[[nodiscard]] inline int run(const std::string& directory, const std::vector<std::string>& command,
                             const std::string& log) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    const pid_t child = all_children().start(actions, argv.data());
    posix_spawn_file_actions_destroy(&actions);
    return child == 0 ? -1 : all_children().wait(child);
}

}  // namespace tool
